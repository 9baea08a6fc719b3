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
    /// What had been said when that came.
    private var extentBefore: UInt64 = 0
    /// Sentences by type, four bits each.
    private(set) var counts: UInt64 = 0

    private var valid: PositionSource = []
    private(set) var void: PositionSource = []
    /// Positions that another sentence must bear out.
    private var unstated: PositionSource = []
    /// Whether a sentence says that its position is simulated or typed in.
    private(set) var isExcluded = false
    private(set) var isEstimated = false

    private(set) var latitude = Ranked()
    private var longitude = Ranked()
    private(set) var altitudeMeters: Double?
    private(set) var geoidSeparationMeters: Double?
    private(set) var speed = Ranked()
    private(set) var course = Ranked()
    private(set) var accuracy = Ranked()
    private(set) var hdop = Ranked()
    private(set) var satellitesUsed: Int?
    private var quality: FixQuality?
    private(set) var qualityRank: UInt8 = 0
    private(set) var makersMode: FixMode?
    private(set) var mode: FixMode?

    /// Counts a sentence that was taken; its place, if it has added something to what the epoch comes to: a GLL behind
    /// GGA and RMC has nothing new to say, and no fix should wait for it.
    @inline(__always)
    mutating func count(_ type: SentenceType) -> CycleLearner.Place? {
        let shift = UInt64(type.rawValue) * 4
        let before = counts >> shift & 15
        if before < 15 { counts &+= 1 << shift }
        let extent = extent
        guard extent != extentBefore else { return nil }
        extentBefore = extent
        let place = CycleLearner.Place(type: type, ordinal: UInt8(truncatingIfNeeded: before))
        lastPlace = place
        return place
    }

    /// Which parts have been said, and by sentences of which rank: eight bits a part, then one bit each.
    @inline(__always)
    private var extent: UInt64 {
        var extent = UInt64(latitude.rank) | UInt64(speed.rank) << 8 | UInt64(course.rank) << 16
        extent |= UInt64(accuracy.rank) << 24 | UInt64(hdop.rank) << 32 | UInt64(qualityRank) << 40
        extent |= UInt64(void.rawValue) << 48
        extent |= (altitudeMeters == nil ? 0 : 1 << 56) | (geoidSeparationMeters == nil ? 0 : 1 << 57)
        extent |= (satellitesUsed == nil ? 0 : 1 << 58) | (dated == nil ? 0 : 1 << 59) | (isEstimated ? 1 << 60 : 0)
        return extent | (mode == nil ? 0 : mode == .threeDimensional ? 1 << 61 : 1 << 62)
    }

    /// Takes a position; of several by one type (one a constellation) the first valid one stays.
    @inline(__always)
    mutating func take(_ sentence: PositionSentence, _ type: SentenceType) {
        let source = PositionSource(type)
        switch sentence.status {
        case .void, .excluded:
            if sentence.status == .excluded { isExcluded = true }
            if !valid.contains(source) { void.formUnion(source) }
            return
        case .valid:
            valid.formUnion(source)
            void.subtract(source)
            if let date = sentence.date, let timeOfDay = sentence.timeOfDay {
                dated = DateSentence(timeOfDay: timeOfDay, date: date)
            }
        case .unstated: unstated.formUnion(source)
        }
        let rank = source.rawValue
        latitude.offer(sentence.latitude, rank: rank)
        longitude.offer(sentence.longitude, rank: rank)
        if sentence.quality != nil, rank > qualityRank { (quality, qualityRank) = (sentence.quality, rank) }
        switch source {
        case .data:
            altitudeMeters = altitudeMeters ?? sentence.altitudeMeters
            geoidSeparationMeters = geoidSeparationMeters ?? sentence.geoidSeparationMeters
            hdop.offer(sentence.hdop, rank: 3)
            satellitesUsed = sentence.satellitesUsed ?? satellitesUsed
        case .maker:
            makersMode = sentence.mode
            speed.offer(sentence.speedMetersPerSecond, rank: 1)
            course.offer(sentence.courseDegrees, rank: 1)
            hdop.offer(sentence.hdop, rank: 1)
            accuracy.offer(sentence.horizontalAccuracyMeters, rank: 2)
            satellitesUsed = satellitesUsed ?? sentence.satellitesUsed
        case .minimum:
            speed.offer(sentence.speedMetersPerSecond, rank: 3)
            course.offer(sentence.courseDegrees, rank: 3)
            if sentence.quality == .estimated { isEstimated = true }
        default:
            if sentence.quality == .estimated { isEstimated = true }
        }
    }

    @inline(__always)
    mutating func take(_ sentence: MotionSentence) {
        speed.offer(sentence.speedMetersPerSecond, rank: 2)
        course.offer(sentence.courseDegrees, rank: 2)
    }

    /// Takes solution mode and HDOP; of several (one a constellation) the best mode stays.
    @inline(__always)
    mutating func take(_ sentence: SatellitesSentence) {
        if sentence.mode == .threeDimensional || mode == nil { mode = sentence.mode }
        hdop.offer(sentence.hdop, rank: 2)
    }

    mutating func take(_ sentence: AccuracySentence, _ type: SentenceType) {
        switch type {
        case .gst: accuracy.offer(sentence.horizontalAccuracyMeters, rank: 4)
        case .gbs: accuracy.offer(sentence.horizontalAccuracyMeters, rank: 3)
        default: accuracy.offer(sentence.horizontalAccuracyMeters, rank: 1)
        }
    }

    /// Whether a position has been stated that no flag speaks against.
    var hasPosition: Bool {
        guard timeOfDay != nil, void.isEmpty else { return false }
        return !valid.isEmpty || !unstated.isEmpty && mode != nil
    }

    /// What the epoch comes to, each part from the best sentence that has it.
    func verdict() -> Verdict {
        if !void.isEmpty { return .void }
        guard hasPosition, let timeOfDay, let latitude = latitude.value, let longitude = longitude.value else {
            return .nothing
        }
        // GGA's word, unless a mode letter admits dead reckoning, which the GGA of NMEA 2.1 could not say.
        let quality = isEstimated ? .estimated : quality ?? .gps
        var fix = Fix(
            timeOfFix: UTCTime(millisecondsSince1970: timeOfDay.posixMilliseconds), latitude: latitude,
            longitude: longitude, quality: quality)
        fix.altitudeMeters = altitudeMeters
        fix.geoidSeparationMeters = geoidSeparationMeters
        fix.speedMetersPerSecond = speed.value
        fix.headingDegrees = course.value
        fix.hdop = hdop.value
        fix.satellitesUsed = satellitesUsed
        fix.mode = mode ?? makersMode
        fix.horizontalAccuracyMeters = accuracy.value ?? fix.hdop.map { $0 * Self.rangeErrorMeters(quality) }
        return .fix(fix)
    }

    /// Range error that HDOP multiplies to a 68 % radius; engineering values.
    private static func rangeErrorMeters(_ quality: FixQuality) -> Double {
        switch quality {
        case .gps, .manual, .simulated: 4.5
        case .dgps, .pps: 2.25
        case .rtkFloat: 0.5
        case .rtkFixed: 0.03
        case .estimated: 10
        }
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

    /// Takes `value` if there is one and its rank, from 1 up, is higher than that of the one kept.
    @inline(__always)
    mutating func offer(_ value: Double?, rank: UInt8) {
        if let value, rank > self.rank { (best, self.rank) = (value, rank) }
    }
}
