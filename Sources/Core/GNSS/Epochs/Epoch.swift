import TimeAndChance

/// Everything that the sentences of one epoch have said so far.
struct Epoch {
    /// What an epoch comes to.
    enum Verdict {
        /// A position; the fix still lacks its date, so that its time is 1970-01-01 with the time of day.
        case fix(Fix)
        /// A flag says that there is no position, or flags contradict each other.
        case void
        /// No sentence stated a position.
        case nothing
    }

    /// `nil` before the first sentence with a time, or where the receiver knows none.
    var timeOfDay: TimeOfDay?
    /// Whether a sentence without time, as a receiver sends it before it knows any, began it.
    var lacksTime = false
    /// The date that a valid sentence states, with its own time.
    private(set) var dated: DateSentence?
    /// The sentence that came last of those that added something.
    private(set) var lastPlace: CycleLearner.Place?
    /// Whether the sentence at hand has added a part, or one that no sentence of its rank had.
    private var hasGained = false
    /// Sentences by type, four bits each.
    private(set) var counts: UInt64 = 0

    /// Another time of the same burst, which a sentence stated by another clock.
    private(set) var otherTime: TimeOfDay?
    private(set) var claims = PositionClaims()
    private(set) var values = EpochValues()

    /// Counts a sentence that was taken; its place, if it has added something to what the epoch comes to: a GLL behind
    /// GGA and RMC has nothing new to say, and no fix should wait for it.
    @inline(__always)
    mutating func count(_ type: SentenceType) -> CycleLearner.Place? {
        let shift = UInt64(type.rawValue) * 4
        let before = counts >> shift & 15
        if before < 15 { counts &+= 1 << shift }
        guard hasGained else { return nil }
        hasGained = false
        let place = CycleLearner.Place(type: type, ordinal: UInt8(truncatingIfNeeded: before))
        lastPlace = place
        return place
    }

    /// Takes a position; of several by one type (one a constellation) the first valid one stays.
    @inline(__always)
    mutating func take(_ sentence: PositionSentence, _ type: SentenceType, _ talker: TalkerGroup) {
        let source = PositionSource(type)
        if claims.take(sentence.status, source, talker) { hasGained = true }
        guard sentence.status == .valid || sentence.status == .unstated else { return }
        if sentence.status == .valid, let date = sentence.date, let timeOfDay = sentence.timeOfDay {
            if dated == nil { hasGained = true }
            dated = DateSentence(timeOfDay: timeOfDay, date: date)
        }
        if values.take(sentence, source) { hasGained = true }
    }

    @inline(__always)
    mutating func take(_ sentence: MotionSentence) {
        if values.speed.offer(sentence.speedMetersPerSecond, rank: 2) { hasGained = true }
        if values.course.offer(sentence.courseDegrees, rank: 2) { hasGained = true }
    }

    /// Takes solution mode and HDOP; of several (one a constellation) the best mode stays.
    @inline(__always)
    mutating func take(_ sentence: SatellitesSentence) {
        let mode = values.mode
        if let stated = sentence.mode, mode == nil || stated == .threeDimensional && mode == .twoDimensional {
            values.mode = stated
            hasGained = true
        }
        if values.hdop.offer(sentence.hdop, rank: 2) { hasGained = true }
    }

    mutating func take(_ sentence: AccuracySentence, _ type: SentenceType) {
        let rank: UInt8 =
            switch type {
            case .gst: 4
            case .gbs: 3
            default: 1
            }
        if values.accuracy.offer(sentence.horizontalAccuracyMeters, rank: rank) { hasGained = true }
    }

    /// Whether a position has been stated that no flag speaks against.
    var hasPosition: Bool {
        guard timeOfDay != nil, !claims.isVoid else { return false }
        return !claims.valid.isEmpty || !claims.unstated.isEmpty && values.mode != nil
    }

    /// What the epoch comes to, each part from the best sentence that has it. `earlierHDOP` is the last that was stated
    /// before the epoch, 0 if none holds.
    func verdict(earlierHDOP: Double) -> Verdict {
        if claims.isVoid { return .void }
        guard hasPosition, let timeOfDay, let latitude = values.latitude.value, let longitude = values.longitude.value
        else { return .nothing }
        // GGA's word, unless a mode letter admits dead reckoning, which the GGA of NMEA 2.1 could not say.
        let quality = values.isEstimated ? .estimated : values.quality ?? .gps
        var fix = Fix(
            timeOfFix: UTCTime(millisecondsSince1970: timeOfDay.posixMilliseconds), latitude: latitude,
            longitude: longitude, quality: quality)
        fix.altitudeMeters = values.altitudeMeters
        fix.geoidSeparationMeters = values.geoidSeparationMeters
        fix.speedMetersPerSecond = values.speed.value
        fix.headingDegrees = values.course.value
        fix.hdop = values.hdop.value ?? (quality == .estimated || earlierHDOP == 0 ? nil : earlierHDOP)
        fix.satellitesUsed = values.satellitesUsed
        fix.mode = values.mode ?? values.makersMode
        fix.horizontalAccuracyMeters = values.accuracy.value ?? fix.hdop.map { Self.radius(hdop: $0, quality) }
        return .fix(fix)
    }

    /// Radius of the 68 % circle in metres by the HDOP: range error times HDOP, but no less than what reflections leave
    /// in a town whatever the geometry; docs/nmea.md says what was measured.
    private static func radius(hdop: Double, _ quality: FixQuality) -> Double {
        switch quality {
        case .gps, .manual, .simulated: max(4, hdop * 4.5)
        case .dgps, .pps: max(3, hdop * 2.25)
        case .rtkFloat: max(0.5, hdop * 0.5)
        case .rtkFixed: 0.5
        case .estimated: hdop * 10
        }
    }
}

/// Sentences of one burst that state times by two clocks.
extension Epoch {
    /// Whether a sentence of that type has come.
    @inline(__always)
    func has(_ type: SentenceType) -> Bool { counts >> (UInt64(type.rawValue) * 4) & 15 != 0 }

    /// Whether `sentence`, the first of its type, may belong to the burst of this epoch although it states another
    /// time: its position differs by no more than `degrees`.
    func isSameBurst(_ sentence: PositionSentence, within degrees: Double) -> Bool {
        guard sentence.status == .valid || sentence.status == .unstated, hasPosition,
            let latitude = values.latitude.value, let longitude = values.longitude.value,
            let otherLatitude = sentence.latitude, let otherLongitude = sentence.longitude
        else { return false }
        return abs(latitude - otherLatitude) <= degrees && abs(longitude - otherLongitude) <= degrees
    }

    /// Keeps `time` beside the epoch's own, or takes it for the epoch's own.
    mutating func add(otherTime time: TimeOfDay, isBetter: Bool) {
        otherTime = isBetter ? timeOfDay : time
        if isBetter { timeOfDay = time }
    }

    /// Whether `time` is the epoch's, by either clock.
    @inline(__always)
    func isTime(_ time: TimeOfDay) -> Bool {
        if let timeOfDay, timeOfDay.isSameEpoch(as: time) { return true }
        guard let otherTime else { return false }
        return otherTime.isSameEpoch(as: time)
    }

    /// How far the best clock of the epoch so far is to be trusted about the hour: RMC states a date, too.
    var clockRank: UInt8 {
        if dated != nil { return 3 }
        let positions = claims.valid.union(claims.unstated)
        return positions.contains(.data) ? 2 : positions == .bare ? 0 : 1
    }
}

/// Which sentences of an epoch state a position, and which say that there is none.
struct PositionClaims {
    private(set) var valid: PositionSource = []
    private(set) var void: PositionSource = []
    /// Positions that another sentence must bear out.
    private(set) var unstated: PositionSource = []
    /// Whether a sentence says that its position is simulated or typed in.
    private(set) var isExcluded = false
    /// Who stated positions.
    private var positionTalkers: TalkerGroup = []
    /// Who said that there is none.
    private var voidTalkers = VoidTalkers()

    /// Adds the flags of a sentence. Returns whether they change anything.
    @inline(__always)
    mutating func take(_ status: SolutionStatus, _ source: PositionSource, _ talker: TalkerGroup) -> Bool {
        switch status {
        case .void, .excluded:
            if status == .excluded { isExcluded = true }
            guard !valid.contains(source), void.insert(source).inserted else { return false }
            voidTalkers.set(talker, of: source)
            return positionTalkers.isEmpty || positionTalkers.contains(talker)
        case .valid:
            valid.formUnion(source)
            positionTalkers.formUnion(talker)
            guard void.remove(source) != nil else { return false }
            voidTalkers.set([], of: source)
            return true
        case .unstated:
            unstated.formUnion(source)
            positionTalkers.formUnion(talker)
            return false
        }
    }

    /// Whether a flag says that there is no position: of a talker that states one, or while no talker does.
    @inline(__always)
    var isVoid: Bool {
        !void.isEmpty && (positionTalkers.isEmpty || !positionTalkers.isDisjoint(with: voidTalkers.all))
    }
}

/// The parts of a fix that the sentences of an epoch have stated so far.
struct EpochValues {
    private(set) var latitude = Ranked()
    private(set) var longitude = Ranked()
    private(set) var altitudeMeters: Double?
    private(set) var geoidSeparationMeters: Double?
    fileprivate(set) var speed = Ranked()
    fileprivate(set) var course = Ranked()
    fileprivate(set) var accuracy = Ranked()
    fileprivate(set) var hdop = Ranked()
    private(set) var satellitesUsed: Int?
    private(set) var quality: FixQuality?
    private(set) var qualityRank: UInt8 = 0
    private(set) var isEstimated = false
    private(set) var makersMode: FixMode?
    fileprivate(set) var mode: FixMode?

    /// Adds what a sentence states; of several of one type (one per constellation) the first valid one counts. Returns
    /// whether anything is new.
    @inline(__always)
    fileprivate mutating func take(_ sentence: PositionSentence, _ source: PositionSource) -> Bool {
        let rank = source.rawValue
        var hasGained = latitude.offer(sentence.latitude, rank: rank)
        longitude.offer(sentence.longitude, rank: rank)
        if sentence.quality != nil, rank > qualityRank {
            quality = sentence.quality
            qualityRank = rank
            hasGained = true
        }
        switch source {
        case .data:
            if Self.fill(&altitudeMeters, sentence.altitudeMeters) { hasGained = true }
            if Self.fill(&geoidSeparationMeters, sentence.geoidSeparationMeters) { hasGained = true }
            if hdop.offer(sentence.hdop, rank: 3) { hasGained = true }
            if Self.fill(&satellitesUsed, sentence.satellitesUsed) { hasGained = true }
            satellitesUsed = sentence.satellitesUsed ?? satellitesUsed
        case .maker:
            makersMode = sentence.mode
            if speed.offer(sentence.speedMetersPerSecond, rank: 1) { hasGained = true }
            if course.offer(sentence.courseDegrees, rank: 1) { hasGained = true }
            if hdop.offer(sentence.hdop, rank: 1) { hasGained = true }
            if accuracy.offer(sentence.horizontalAccuracyMeters, rank: 2) { hasGained = true }
            if Self.fill(&satellitesUsed, sentence.satellitesUsed) { hasGained = true }
        case .minimum:
            if speed.offer(sentence.speedMetersPerSecond, rank: 3) { hasGained = true }
            if course.offer(sentence.courseDegrees, rank: 3) { hasGained = true }
            if noteEstimate(sentence.quality) { hasGained = true }
        default:
            if noteEstimate(sentence.quality) { hasGained = true }
        }
        return hasGained
    }

    @inline(__always)
    private mutating func noteEstimate(_ quality: FixQuality?) -> Bool {
        guard quality == .estimated, !isEstimated else { return false }
        isEstimated = true
        return true
    }

    /// Gives `part` a value if it has none yet. Returns whether it has done so.
    @inline(__always)
    private static func fill<Value>(_ part: inout Value?, _ value: Value?) -> Bool {
        guard part == nil, value != nil else { return false }
        part = value
        return true
    }
}

/// What became of an epoch when it was complete.
enum EpochCompletion: UInt8 {
    case fix
    /// A flag says that there is no position.
    case void
    /// A sentence says that its position is simulated or typed in by hand.
    case excluded
    /// No sentence stated a position that another vouches for.
    case nothing
    /// Its position is 0, 0.
    case nullIsland
    /// A fix, which waits for the first date.
    case undated
    /// One of the last fixes has the same time.
    case repeated
}

/// The best of several offers for one part of a fix; of equal rank the first stays.
struct Ranked {
    private var best = 0.0
    private(set) var rank: UInt8 = 0

    /// What was offered with the highest rank; `nil` when nothing was.
    @inline(__always)
    var value: Double? { rank == 0 ? nil : best }

    /// Takes `value` if there is one and its rank, from 1 up, is higher than that of the one kept; whether it is.
    @inline(__always) @discardableResult
    mutating func offer(_ value: Double?, rank: UInt8) -> Bool {
        guard let value, rank > self.rank else { return false }
        best = value
        self.rank = rank
        return true
    }
}
