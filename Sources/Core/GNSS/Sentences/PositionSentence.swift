/// What one sentence with a position says, whichever type it has.
struct PositionSentence {
    var timeOfDay: TimeOfDay?
    var status = SolutionStatus.unstated
    var quality: FixQuality?
    var latitude: Double?
    var longitude: Double?
    /// Above mean sea level.
    var altitudeMeters: Double?
    var geoidSeparationMeters: Double?
    var speedMetersPerSecond: Double?
    var courseDegrees: Double?
    var horizontalAccuracyMeters: Double?
    var hdop: Double?
    var satellitesUsed: Int?
    var mode: FixMode?
    /// Days since 1970-01-01.
    var date: Int32?

    /// Whether the sentence is of use. The numbers of a void sentence don't matter, only its time does.
    @inline(__always)
    fileprivate mutating func conclude(_ fields: inout FieldCursor) -> Bool {
        guard fields.fault != .unreadableFlag else { return false }
        guard status == .valid || status == .unstated else {
            fields.forgiveFaults()
            return true
        }
        if (latitude == nil) != (longitude == nil) { fields.note(.halfPosition) }
        return fields.fault == .none
    }
}

extension PositionSentence {
    /// Reads a sentence of one of the types that state a position; `nil` if it is of no use.
    @inline(__always)
    init?(_ type: SentenceType, _ fields: inout FieldCursor, _ recent: inout RecentPosition) {
        switch type {
        case .rmc: self.init(rmc: &fields, &recent)
        case .gga: self.init(gga: &fields, &recent)
        case .gns: self.init(gns: &fields, &recent)
        case .gll: self.init(gll: &fields, &recent)
        default: self.init(pubx00: &fields)
        }
    }

    /// RMC: recommended minimum. The navigation status behind the mode is not looked at: receivers that do not
    /// provide it send `V`.
    @inline(__always)
    init?(rmc fields: inout FieldCursor, _ recent: inout RecentPosition) {
        timeOfDay = fields.timeOfDay(&recent)
        guard fields.fault == .none else { return nil }
        let letter = fields.statusFlag()
        (latitude, longitude) = fields.place(&recent)
        speedMetersPerSecond = fields.speedInKnots()
        courseDegrees = fields.course()
        date = fields.date(&recent)
        fields.skip(2)
        (status, quality) = SolutionStatus.of(status: letter, mode: fields.letter())
        guard conclude(&fields) else { return nil }
    }

    /// GGA: fix data. A fix from fewer than three satellites needs another sentence to vouch for it, except by dead
    /// reckoning.
    @inline(__always)
    init?(gga fields: inout FieldCursor, _ recent: inout RecentPosition) {
        timeOfDay = fields.timeOfDay(&recent)
        guard fields.fault == .none else { return nil }
        (latitude, longitude) = fields.place(&recent)
        if let solution = SolutionStatus.ofQuality(fields.flag()) {
            status = solution.0
            quality = solution.1
        } else {
            fields.noteUnreadableFlag()
        }
        readSolution(&fields, unitFollows: true)
        if let satellitesUsed, satellitesUsed < 3, status == .valid, quality != .estimated { status = .unstated }
        guard conclude(&fields) else { return nil }
    }

    /// GNS: fix data of several constellations, a mode letter for each; the best one counts.
    @inline(__always)
    private init?(gns fields: inout FieldCursor, _ recent: inout RecentPosition) {
        timeOfDay = fields.timeOfDay(&recent)
        guard fields.fault == .none else { return nil }
        (latitude, longitude) = fields.place(&recent)
        if let solution = Self.best(ofModes: fields.word()) {
            status = solution.0
            quality = solution.1
        } else {
            fields.noteUnreadableFlag()
        }
        readSolution(&fields, unitFollows: false)
        guard conclude(&fields) else { return nil }
    }

    /// GLL: position alone; the oldest receivers send neither status nor time.
    @inline(__always)
    init?(gll fields: inout FieldCursor, _ recent: inout RecentPosition) {
        (latitude, longitude) = fields.place(&recent)
        let faultOfPosition = fields.fault
        fields.fault = .none
        timeOfDay = fields.timeOfDay(&recent)
        guard fields.fault == .none else { return nil }
        fields.fault = faultOfPosition
        let letter = fields.statusFlag()
        if letter != 0 { (status, quality) = SolutionStatus.of(status: letter, mode: fields.letter()) }
        guard conclude(&fields) else { return nil }
    }

    /// PUBX,00: u-blox's own position, speed in km/h.
    private init?(pubx00 fields: inout FieldCursor) {
        timeOfDay = fields.timeOfDay()
        guard fields.fault == .none else { return nil }
        latitude = fields.latitude()
        longitude = fields.longitude()
        _ = fields.number(in: -10_000...100_000)  // altitude above the ellipsoid
        if let solution = Self.meaning(ofUbloxStatus: fields.word()) {
            status = solution.0
            quality = solution.1
            mode = solution.2
        } else {
            fields.noteUnreadableFlag()
        }
        horizontalAccuracyMeters = fields.errorInMeters()
        fields.skip()
        speedMetersPerSecond = fields.speedInKilometersPerHour()
        courseDegrees = fields.course()
        fields.skip(2)
        hdop = fields.dilution()
        fields.skip(2)
        satellitesUsed = fields.number(in: 0...255).map { Int($0) }
        guard conclude(&fields) else { return nil }
    }

    /// Satellites, HDOP, altitude and separation, which GGA and GNS have alike.
    @inline(__always)
    private mutating func readSolution(_ fields: inout FieldCursor, unitFollows: Bool) {
        satellitesUsed = fields.number(in: 0...255).map { Int($0) }
        hdop = fields.dilution()
        altitudeMeters = fields.number(in: -10_000...100_000)
        if unitFollows { fields.skip() }
        geoidSeparationMeters = fields.number(in: -500...500)
    }

    /// The best of a mode letter for each constellation; `nil` when none of them is a mode letter.
    private static func best(ofModes letters: UInt64) -> (SolutionStatus, FixQuality?)? {
        var best: (SolutionStatus, FixQuality?) = (.void, nil)
        var isReadable = letters == 0
        var rest = letters
        while rest != 0 {
            let (status, quality) = SolutionStatus.ofMode(UInt8(truncatingIfNeeded: rest))
            if status == .excluded { return (status, quality) }
            isReadable = isReadable || status != .unstated
            if status == .valid, best.0 == .void || rank(quality) > rank(best.1) { best = (status, quality) }
            rest >>= 8
        }
        return isReadable ? best : nil
    }

    private static func rank(_ quality: FixQuality?) -> Int {
        switch quality {
        case .rtkFixed: 5
        case .rtkFloat: 4
        case .pps: 3
        case .dgps: 2
        case .gps: 1
        case .estimated, .manual, .simulated, nil: 0
        }
    }

    /// The meaning of PUBX,00 field 8; `nil` for a word that u-blox doesn't document.
    private static func meaning(ofUbloxStatus word: UInt64) -> (SolutionStatus, FixQuality?, FixMode?)? {
        switch (UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)) {
        case (UInt8(ascii: "G"), UInt8(ascii: "2")): (.valid, .gps, .twoDimensional)
        case (UInt8(ascii: "G"), UInt8(ascii: "3")): (.valid, .gps, .threeDimensional)
        case (UInt8(ascii: "D"), UInt8(ascii: "2")): (.valid, .dgps, .twoDimensional)
        case (UInt8(ascii: "D"), UInt8(ascii: "3")): (.valid, .dgps, .threeDimensional)
        case (UInt8(ascii: "D"), UInt8(ascii: "R")): (.valid, .estimated, nil)
        case (UInt8(ascii: "R"), UInt8(ascii: "K")): (.valid, .gps, nil)
        case (0, 0), (UInt8(ascii: "N"), UInt8(ascii: "F")), (UInt8(ascii: "T"), UInt8(ascii: "T")): (.void, nil, nil)
        default: nil
        }
    }
}

extension FieldCursor {
    /// The status letter of RMC and GLL, 0 when the field is empty. Notes anything but `A` and `V`.
    @inline(__always)
    fileprivate mutating func statusFlag() -> UInt8 {
        let letter = flag()
        if letter != UInt8(ascii: "A"), letter != UInt8(ascii: "V"), letter != 0 { noteUnreadableFlag() }
        return letter
    }
}
