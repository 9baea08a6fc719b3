import TimeAndRandomness

/// The values and flags from the sentences received so far for one epoch.
struct Epoch {
    /// The result of an epoch.
    enum Verdict {
        /// A fix whose time of day is known, but whose date isn't. Its date is 1970-01-01 for the time being.
        case fix(Fix)
        /// A flag says that there is no position, even if another flag says that there is one.
        case void
        /// No sentence contains a position, or no sentence confirms it.
        case nothing
    }

    /// The epoch's time; `nil` until a sentence contains one.
    var timeOfDay: TimeOfDay?
    /// Whether the epoch began with a sentence whose time field is empty. Receivers send such sentences until they know
    /// the time.
    var lacksTime = false
    /// The last date in a sentence with a valid position, together with that sentence's time of day; `nil` until such a
    /// sentence arrives.
    private(set) var latestDate: DateSentence?
    /// The place of the last sentence that changed the epoch's values or flags; `nil` if none has changed them.
    private(set) var lastPlace: CycleLearner.Place?
    /// Whether the sentence that is being read has changed the epoch's values or flags.
    private var hasChanged = false
    /// The number of sentences of each type, in four bits per type. Counting stops at 15.
    private(set) var sentenceCounts: UInt64 = 0

    /// The time of day according to a second clock; `nil` unless the sentences of one burst contain times from two
    /// clocks.
    private(set) var otherTime: TimeOfDay?
    private(set) var claims = PositionClaims()
    private(set) var values = EpochValues()

    /// Counts a sentence. Returns its place in the epoch if it has changed the epoch, otherwise `nil`. For example, a
    /// GLL after GGA and RMC changes nothing, so a fix needn't wait for it.
    @inline(__always)
    mutating func countSentence(of type: SentenceType) -> CycleLearner.Place? {
        let shift = UInt64(type.rawValue) * 4
        let before = sentenceCounts >> shift & 15
        if before < 15 { sentenceCounts &+= 1 << shift }
        guard hasChanged else { return nil }
        hasChanged = false
        let place = CycleLearner.Place(type: type, ordinal: UInt8(truncatingIfNeeded: before))
        lastPlace = place
        return place
    }

    /// Adds a position sentence. Receivers may send one sentence of a type per constellation; the first valid one of
    /// each type is used.
    @inline(__always)
    mutating func add(_ sentence: PositionSentence, of type: SentenceType, from talker: TalkerGroup) {
        let source = PositionSource(type)
        if claims.record(sentence.status, of: source, from: talker) { hasChanged = true }
        guard sentence.status == .valid || sentence.status == .unconfirmed else { return }
        if sentence.status == .valid, let date = sentence.date, let timeOfDay = sentence.timeOfDay {
            if latestDate == nil { hasChanged = true }
            latestDate = DateSentence(timeOfDay: timeOfDay, date: date)
        }
        if values.add(sentence, from: source) { hasChanged = true }
    }

    @inline(__always)
    mutating func add(_ sentence: MotionSentence) {
        if values.speed.offer(sentence.speedMetersPerSecond, rank: 2) { hasChanged = true }
        if values.course.offer(sentence.courseDegrees, rank: 2) { hasChanged = true }
    }

    /// Adds the solution mode and the HDOP from GSA. Receivers may send one GSA per constellation; the best mode and
    /// the first HDOP are used.
    @inline(__always)
    mutating func add(_ sentence: SatellitesSentence) {
        let mode = values.mode
        if let stated = sentence.mode, mode == nil || stated == .threeDimensional && mode == .twoDimensional {
            values.mode = stated
            hasChanged = true
        }
        if values.hdop.offer(sentence.hdop, rank: 2) { hasChanged = true }
    }

    mutating func add(_ sentence: AccuracySentence, of type: SentenceType) {
        let rank: UInt8 =
            switch type {
            case .gst: 4
            case .gbs: 3
            default: 1
            }
        if values.accuracy.offer(sentence.horizontalAccuracyMeters, rank: rank) { hasChanged = true }
    }

    /// Whether the epoch has a time and a confirmed position that no flag contradicts.
    var hasPosition: Bool {
        guard timeOfDay != nil, !claims.isVoid else { return false }
        return !claims.valid.isEmpty || !claims.unconfirmed.isEmpty && values.mode != nil
    }

    /// Returns the epoch's result. Each value is from the most trusted sentence that contains it. `earlierHDOP` is the
    /// HDOP of an earlier epoch, or 0 if none is recent enough.
    func verdict(earlierHDOP: Double) -> Verdict {
        if claims.isVoid { return .void }
        guard hasPosition, let timeOfDay, let latitude = values.latitude.value, let longitude = values.longitude.value
        else { return .nothing }
        // The quality is GGA's, unless a mode letter in another sentence means dead reckoning. The GGA of NMEA 2.1 has
        // no quality value for dead reckoning.
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
        fix.mode = values.mode ?? values.ubloxMode
        fix.horizontalAccuracyMeters =
            values.accuracy.value ?? fix.hdop.map { Self.accuracyRadius(hdop: $0, quality: quality) }
        return .fix(fix)
    }

    /// Returns the radius in metres of the circle that contains the true position with a probability of 68 %. The
    /// radius is the receiver's range error times HDOP. However good the geometry, it is at least the error that
    /// reflections cause in a town. docs/evidence/nmea.md contains the measurements.
    private static func accuracyRadius(hdop: Double, quality: FixQuality) -> Double {
        switch quality {
        case .gps, .manual, .simulated: max(4, hdop * 4.5)
        case .dgps, .pps: max(3, hdop * 2.25)
        case .rtkFloat: max(0.5, hdop * 0.5)
        case .rtkFixed: 0.5
        case .estimated: hdop * 10
        }
    }
}

/// The handling of bursts whose sentences contain times from two clocks.
extension Epoch {
    /// Whether the epoch contains a sentence of `type`.
    @inline(__always)
    func contains(_ type: SentenceType) -> Bool { sentenceCounts >> (UInt64(type.rawValue) * 4) & 15 != 0 }

    /// Whether `sentence` is in the same burst as this epoch's sentences, although its time differs. In one burst, the
    /// positions differ by at most `toleranceDegrees`. `sentence` must be the first of its type in the epoch.
    func sharesBurst(with sentence: PositionSentence, toleranceDegrees: Double) -> Bool {
        guard sentence.status == .valid || sentence.status == .unconfirmed, hasPosition,
            let latitude = values.latitude.value, let longitude = values.longitude.value,
            let otherLatitude = sentence.latitude, let otherLongitude = sentence.longitude
        else { return false }
        return abs(latitude - otherLatitude) <= toleranceDegrees
            && abs(longitude - otherLongitude) <= toleranceDegrees
    }

    /// Records the time from a second clock. If `isBetter`, that time becomes the epoch's time.
    mutating func add(otherTime time: TimeOfDay, isBetter: Bool) {
        otherTime = isBetter ? timeOfDay : time
        if isBetter { timeOfDay = time }
    }

    /// Whether `time` is the epoch's time according to one of its clocks.
    @inline(__always)
    func hasTime(_ time: TimeOfDay) -> Bool {
        if let timeOfDay, timeOfDay.isSameEpoch(as: time) { return true }
        guard let otherTime else { return false }
        return otherTime.isSameEpoch(as: time)
    }

    /// The rank of the epoch's clock. The higher the rank, the more likely it is that the clock shows UTC. The clock of
    /// a dated sentence (RMC) has the highest rank.
    var clockRank: UInt8 {
        if latestDate != nil { return 3 }
        let positions = claims.valid.union(claims.unconfirmed)
        return positions.contains(.gga) ? 2 : positions == .gll ? 0 : 1
    }
}

/// The sentence types that contain a position in an epoch, and the types whose flags say that there is no position.
struct PositionClaims {
    private(set) var valid: PositionSource = []
    private(set) var void: PositionSource = []
    /// The types whose position must be confirmed by another sentence.
    private(set) var unconfirmed: PositionSource = []
    /// Whether a flag says that a position was simulated or entered by hand.
    private(set) var isExcluded = false
    /// The talkers that have sent a position.
    private var positionTalkers: TalkerGroup = []
    /// The talkers that have sent a sentence whose flags say that there is no position.
    private var voidTalkers = VoidTalkers()

    /// Records the flags of a sentence. Returns whether they may have changed `isVoid`.
    @inline(__always)
    mutating func record(_ status: SolutionStatus, of source: PositionSource, from talker: TalkerGroup) -> Bool {
        switch status {
        case .void, .excluded:
            if status == .excluded { isExcluded = true }
            guard !valid.contains(source), void.insert(source).inserted else { return false }
            voidTalkers.set(talker, for: source)
            return positionTalkers.isEmpty || positionTalkers.contains(talker)
        case .valid:
            valid.formUnion(source)
            positionTalkers.formUnion(talker)
            guard void.remove(source) != nil else { return false }
            voidTalkers.set([], for: source)
            return true
        case .unconfirmed:
            unconfirmed.formUnion(source)
            positionTalkers.formUnion(talker)
            return false
        }
    }

    /// Whether a flag says that the epoch has no position. The flag counts only if its talker has also sent a position,
    /// or if no talker has sent one.
    @inline(__always)
    var isVoid: Bool {
        !void.isEmpty && (positionTalkers.isEmpty || !positionTalkers.isDisjoint(with: voidTalkers.all))
    }
}

/// The values of a fix, collected from the sentences received so far for one epoch.
struct EpochValues {
    private(set) var latitude = RankedValue()
    private(set) var longitude = RankedValue()
    private(set) var altitudeMeters: Double?
    private(set) var geoidSeparationMeters: Double?
    fileprivate(set) var speed = RankedValue()
    fileprivate(set) var course = RankedValue()
    fileprivate(set) var accuracy = RankedValue()
    fileprivate(set) var hdop = RankedValue()
    private(set) var satellitesUsed: Int?
    private(set) var quality: FixQuality?
    private(set) var qualityRank: UInt8 = 0
    private(set) var isEstimated = false
    private(set) var ubloxMode: FixMode?
    fileprivate(set) var mode: FixMode?

    /// Adds the values of a sentence. Receivers may send one sentence of a type per constellation; the first valid one
    /// is used. Returns whether any value has changed.
    @inline(__always)
    fileprivate mutating func add(_ sentence: PositionSentence, from source: PositionSource) -> Bool {
        let rank = source.rawValue
        var hasChanged = latitude.offer(sentence.latitude, rank: rank)
        longitude.offer(sentence.longitude, rank: rank)
        if sentence.quality != nil, rank > qualityRank {
            quality = sentence.quality
            qualityRank = rank
            hasChanged = true
        }
        switch source {
        case .gga:
            if Self.setIfMissing(&altitudeMeters, to: sentence.altitudeMeters) { hasChanged = true }
            if Self.setIfMissing(&geoidSeparationMeters, to: sentence.geoidSeparationMeters) { hasChanged = true }
            if hdop.offer(sentence.hdop, rank: 3) { hasChanged = true }
            if Self.setIfMissing(&satellitesUsed, to: sentence.satellitesUsed) { hasChanged = true }
            satellitesUsed = sentence.satellitesUsed ?? satellitesUsed
        case .pubx00:
            ubloxMode = sentence.mode
            if speed.offer(sentence.speedMetersPerSecond, rank: 1) { hasChanged = true }
            if course.offer(sentence.courseDegrees, rank: 1) { hasChanged = true }
            if hdop.offer(sentence.hdop, rank: 1) { hasChanged = true }
            if accuracy.offer(sentence.horizontalAccuracyMeters, rank: 2) { hasChanged = true }
            if Self.setIfMissing(&satellitesUsed, to: sentence.satellitesUsed) { hasChanged = true }
        case .rmc:
            if speed.offer(sentence.speedMetersPerSecond, rank: 3) { hasChanged = true }
            if course.offer(sentence.courseDegrees, rank: 3) { hasChanged = true }
            if recordIfEstimated(sentence.quality) { hasChanged = true }
        default:
            if recordIfEstimated(sentence.quality) { hasChanged = true }
        }
        return hasChanged
    }

    @inline(__always)
    private mutating func recordIfEstimated(_ quality: FixQuality?) -> Bool {
        guard quality == .estimated, !isEstimated else { return false }
        isEstimated = true
        return true
    }

    /// Sets `part` to `value` if `part` is `nil`. Returns whether `part` was set.
    @inline(__always)
    private static func setIfMissing<Value>(_ part: inout Value?, to value: Value?) -> Bool {
        guard part == nil, value != nil else { return false }
        part = value
        return true
    }
}

/// The outcome of a complete epoch.
enum EpochCompletion: UInt8 {
    case fix
    /// No fix, because a flag says that there is no position.
    case void
    /// No fix, because a flag says that the position was simulated or entered by hand.
    case excluded
    /// No fix, because no sentence contains a confirmed position.
    case nothing
    /// No fix, because the position is latitude 0, longitude 0.
    case nullIsland
    /// A fix that can't be emitted until a date is known.
    case undated
    /// No fix, because a recent fix has the same time.
    case repeated
}

/// The most trusted of several candidates for one value of a fix. If two candidates have the same rank, the first is
/// kept.
struct RankedValue {
    private var best = 0.0
    private(set) var rank: UInt8 = 0

    /// The candidate with the highest rank; `nil` if there is no candidate.
    @inline(__always)
    var value: Double? { rank == 0 ? nil : best }

    /// Keeps `value` if its `rank` (at least 1) is higher than that of the current candidate. Returns whether it was
    /// kept.
    @inline(__always) @discardableResult
    mutating func offer(_ value: Double?, rank: UInt8) -> Bool {
        guard let value, rank > self.rank else { return false }
        best = value
        self.rank = rank
        return true
    }
}
