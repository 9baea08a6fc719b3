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
    var dated: DateSentence?
    /// The useful sentence that came last.
    private(set) var lastPlace: CycleLearner.Place?
    /// Sentences by type, four bits each.
    private var counts: UInt64 = 0
    private var data: PositionSentence?
    private var maker: PositionSentence?
    private var minimum: PositionSentence?
    private var bare: PositionSentence?
    private var motion: MotionSentence?
    private var satellites: SatellitesSentence?
    private var noiseMeters: Double?
    private var faultDetectionMeters: Double?
    private var makersMeters: Double?

    /// Notes that a useful sentence came.
    @inline(__always)
    mutating func count(_ type: SentenceType) -> CycleLearner.Place {
        let shift = UInt64(type.rawValue) * 4
        let before = counts >> shift & 15
        if before < 15 { counts &+= 1 << shift }
        let place = CycleLearner.Place(type: type, ordinal: Int(before))
        lastPlace = place
        return place
    }

    /// Takes a position; of several by one type (one a constellation) the first valid one stays.
    @inline(__always)
    mutating func take(_ sentence: PositionSentence, _ type: SentenceType) {
        switch type {
        case .rmc: minimum = Self.better(of: minimum, and: sentence)
        case .gll: bare = Self.better(of: bare, and: sentence)
        case .pubx00: maker = Self.better(of: maker, and: sentence)
        default: data = Self.better(of: data, and: sentence)
        }
        if let date = sentence.date, sentence.status == .valid, let timeOfDay = sentence.timeOfDay {
            dated = DateSentence(timeOfDay: timeOfDay, date: date)
        }
    }

    @inline(__always)
    mutating func take(_ sentence: MotionSentence) {
        if motion == nil { motion = sentence }
    }

    /// Takes solution mode and HDOP; of several (one a constellation) the best mode stays.
    @inline(__always)
    mutating func take(_ sentence: SatellitesSentence) {
        guard let satellites else {
            self.satellites = sentence
            return
        }
        let mode = sentence.mode == .threeDimensional ? sentence.mode : satellites.mode ?? sentence.mode
        self.satellites?.mode = mode
        self.satellites?.hdop = satellites.hdop ?? sentence.hdop
    }

    mutating func take(_ sentence: AccuracySentence, _ type: SentenceType) {
        switch type {
        case .gst: noiseMeters = sentence.horizontalAccuracyMeters
        case .gbs: faultDetectionMeters = sentence.horizontalAccuracyMeters
        default: makersMeters = sentence.horizontalAccuracyMeters
        }
    }

    /// Whether a position has been stated that no flag speaks against.
    var hasPosition: Bool {
        guard timeOfDay != nil, !isVoid else { return false }
        if data?.status == .valid || maker?.status == .valid || minimum?.status == .valid || bare?.status == .valid {
            return true
        }
        return (data?.status == .unstated || bare?.status == .unstated) && satellites?.mode != nil
    }

    /// Whether a sentence of the epoch says that its position is simulated or typed in.
    var isExcluded: Bool {
        data?.status == .excluded || minimum?.status == .excluded || bare?.status == .excluded
    }

    private var isVoid: Bool {
        Self.isVoid(data) || Self.isVoid(maker) || Self.isVoid(minimum) || Self.isVoid(bare)
    }

    private static func isVoid(_ sentence: PositionSentence?) -> Bool {
        sentence?.status == .void || sentence?.status == .excluded
    }

    private static func better(of one: PositionSentence?, and other: PositionSentence) -> PositionSentence {
        guard let one else { return other }
        return isVoid(one) && !isVoid(other) || one.latitude == nil ? other : one
    }

    /// What the epoch comes to, each part from the best sentence that has it.
    func verdict() -> Verdict {
        if isVoid { return .void }
        guard hasPosition, let timeOfDay else { return .nothing }
        guard let position = firstPosition(), let latitude = position.latitude, let longitude = position.longitude
        else {
            return .nothing
        }
        let quality = statedQuality
        var fix = Fix(
            timeOfFix: UTCTime(millisecondsSince1970: timeOfDay.posixMilliseconds), latitude: latitude,
            longitude: longitude, quality: quality)
        fix.altitudeMeters = data?.altitudeMeters
        fix.geoidSeparationMeters = data?.geoidSeparationMeters
        fix.speedMetersPerSecond =
            minimum?.speedMetersPerSecond ?? motion?.speedMetersPerSecond
            ?? maker?.speedMetersPerSecond
        fix.headingDegrees = minimum?.courseDegrees ?? motion?.courseDegrees ?? maker?.courseDegrees
        fix.hdop = data?.hdop ?? satellites?.hdop ?? maker?.hdop
        fix.satellitesUsed = data?.satellitesUsed ?? maker?.satellitesUsed
        fix.mode = satellites?.mode ?? maker?.mode
        fix.horizontalAccuracyMeters = statedAccuracy ?? fix.hdop.map { $0 * Self.rangeErrorMeters(quality) }
        return .fix(fix)
    }

    private func firstPosition() -> PositionSentence? {
        if let data, data.latitude != nil { return data }
        if let maker, maker.latitude != nil { return maker }
        if let minimum, minimum.latitude != nil { return minimum }
        return bare
    }

    /// GGA's word, unless a mode letter admits dead reckoning, which the GGA of NMEA 2.1 could not say.
    private var statedQuality: FixQuality {
        if minimum?.quality == .estimated || bare?.quality == .estimated { return .estimated }
        return data?.quality ?? maker?.quality ?? minimum?.quality ?? bare?.quality ?? .gps
    }

    private var statedAccuracy: Double? {
        noiseMeters ?? faultDetectionMeters ?? maker?.horizontalAccuracyMeters ?? makersMeters
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
