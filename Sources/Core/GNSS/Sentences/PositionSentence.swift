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
    /// Above the ellipsoid (PUBX).
    private var ellipsoidalAltitudeMeters: Double?
    var speedMetersPerSecond: Double?
    var courseDegrees: Double?
    var horizontalAccuracyMeters: Double?
    var hdop: Double?
    var satellitesUsed: Int?
    var mode: FixMode?
    /// Days since 1970-01-01.
    var date: Int32?

    /// Whether the fields are fit for use; a void sentence's numbers do not matter, only its time does.
    @inline(__always)
    mutating func conclude(_ fields: inout FieldCursor) -> Bool {
        guard status == .valid || status == .unstated else { return true }
        if (latitude == nil) != (longitude == nil) { fields.note(.halfPosition) }
        return fields.fault == .none
    }
}

extension PositionSentence {
    /// RMC: recommended minimum. The navigation status behind the mode is not looked at: receivers that do not
    /// provide it send `V`.
    @inline(__always)
    init?(rmc fields: inout FieldCursor, _ recent: inout RecentPosition) {
        timeOfDay = fields.timeOfDay(&recent)
        guard fields.fault == .none else { return nil }
        let letter = fields.letter()
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
        (status, quality) = SolutionStatus.ofQuality(fields.letter())
        readSolution(&fields, unitFollows: true)
        if let satellitesUsed, satellitesUsed < 3, status == .valid, quality != .estimated { status = .unstated }
        guard conclude(&fields) else { return nil }
    }

    /// GNS: fix data of several constellations, a mode letter for each; the best one counts.
    @inline(__always)
    init?(gns fields: inout FieldCursor, _ recent: inout RecentPosition) {
        timeOfDay = fields.timeOfDay(&recent)
        guard fields.fault == .none else { return nil }
        (latitude, longitude) = fields.place(&recent)
        (status, quality) = Self.best(ofModes: fields.word())
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
        let letter = fields.letter()
        if letter != 0 { (status, quality) = SolutionStatus.of(status: letter, mode: fields.letter()) }
        guard conclude(&fields) else { return nil }
    }

    /// PUBX,00: u-blox's own position; altitude above the ellipsoid, speed in km/h.
    init?(pubx00 fields: inout FieldCursor) {
        timeOfDay = fields.timeOfDay()
        guard fields.fault == .none else { return nil }
        latitude = fields.latitude()
        longitude = fields.longitude()
        ellipsoidalAltitudeMeters = fields.number(in: -10_000...100_000)
        let flag = fields.word()
        (status, quality, mode) = Self.meaning(ofUbloxStatus: flag)
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

    private static func best(ofModes letters: UInt64) -> (SolutionStatus, FixQuality?) {
        var best: (SolutionStatus, FixQuality?) = (.void, nil)
        var rest = letters
        while rest != 0 {
            let (status, quality) = SolutionStatus.ofMode(UInt8(truncatingIfNeeded: rest))
            if status == .excluded { return (status, quality) }
            if status == .valid, best.0 == .void || rank(quality) > rank(best.1) { best = (status, quality) }
            rest >>= 8
        }
        return best
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

    private static func meaning(ofUbloxStatus word: UInt64) -> (SolutionStatus, FixQuality?, FixMode?) {
        switch (UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)) {
        case (UInt8(ascii: "G"), UInt8(ascii: "2")): (.valid, .gps, .twoDimensional)
        case (UInt8(ascii: "G"), UInt8(ascii: "3")): (.valid, .gps, .threeDimensional)
        case (UInt8(ascii: "D"), UInt8(ascii: "2")): (.valid, .dgps, .twoDimensional)
        case (UInt8(ascii: "D"), UInt8(ascii: "3")): (.valid, .dgps, .threeDimensional)
        case (UInt8(ascii: "D"), UInt8(ascii: "R")): (.valid, .estimated, nil)
        case (UInt8(ascii: "R"), UInt8(ascii: "K")): (.valid, .gps, nil)
        default: (.void, nil, nil)
        }
    }
}
