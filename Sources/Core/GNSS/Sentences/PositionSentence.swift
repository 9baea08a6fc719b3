/// The values of a sentence that contains a position.
struct PositionSentence {
    var timeOfDay: TimeOfDay?
    var status = SolutionStatus.unconfirmed
    var quality: FixQuality?
    var latitude: Double?
    var longitude: Double?
    /// The altitude above mean sea level, in metres.
    var altitudeMeters: Double?
    var geoidSeparationMeters: Double?
    var speedMetersPerSecond: Double?
    var courseDegrees: Double?
    var horizontalAccuracyMeters: Double?
    var hdop: Double?
    var satellitesUsed: Int?
    var mode: FixMode?
    /// The number of days since 1970-01-01; `nil` if the sentence contains no date.
    var date: Int32?

    /// Returns whether the sentence can be used. If the sentence is void, its faults don't matter, because only its
    /// time is used.
    @inline(__always)
    fileprivate mutating func validate(_ fields: inout FieldCursor) -> Bool {
        guard fields.fault != .unreadableFlag else { return false }
        guard status == .valid || status == .unconfirmed else {
            fields.clearFaults()
            return true
        }
        if (latitude == nil) != (longitude == nil) { fields.recordFault(.incompletePosition) }
        return fields.fault == .none
    }
}

extension PositionSentence {
    /// Reads a sentence of a type that contains a position; `nil` if the sentence can't be used.
    @inline(__always)
    init?(_ type: SentenceType, _ fields: inout FieldCursor, _ cache: inout FieldCache) {
        switch type {
        case .rmc: self.init(rmc: &fields, &cache)
        case .gga: self.init(gga: &fields, &cache)
        case .gns: self.init(gns: &fields, &cache)
        case .gll: self.init(gll: &fields, &cache)
        default: self.init(pubx00: &fields)
        }
    }

    /// Reads RMC (recommended minimum data). The navigation status after the mode letter is ignored, because receivers
    /// that don't support it send `V`.
    @inline(__always)
    init?(rmc fields: inout FieldCursor, _ cache: inout FieldCache) {
        timeOfDay = fields.readTimeOfDay(&cache)
        guard fields.fault == .none else { return nil }
        let letter = fields.readStatusFlag()
        (latitude, longitude) = fields.readCoordinates(&cache)
        speedMetersPerSecond = fields.readSpeedInKnots()
        courseDegrees = fields.readCourse()
        date = fields.readDate(&cache)
        fields.skip(2)
        (status, quality) = SolutionStatus.meaning(ofStatus: letter, mode: fields.readLetter())
        guard validate(&fields) else { return nil }
    }

    /// Reads GGA (fix data). If fewer than three satellites were used, another sentence must confirm the position,
    /// unless the position is from dead reckoning.
    @inline(__always)
    init?(gga fields: inout FieldCursor, _ cache: inout FieldCache) {
        timeOfDay = fields.readTimeOfDay(&cache)
        guard fields.fault == .none else { return nil }
        (latitude, longitude) = fields.readCoordinates(&cache)
        if let solution = SolutionStatus.meaning(ofQuality: fields.readFlag()) {
            status = solution.0
            quality = solution.1
        } else {
            fields.recordUnreadableFlag()
        }
        readSolution(&fields, hasAltitudeUnit: true)
        if let satellitesUsed, satellitesUsed < 3, status == .valid, quality != .estimated { status = .unconfirmed }
        guard validate(&fields) else { return nil }
    }

    /// Reads GNS (fix data of several constellations). It contains one mode letter per constellation; the best one is
    /// used.
    @inline(__always)
    private init?(gns fields: inout FieldCursor, _ cache: inout FieldCache) {
        timeOfDay = fields.readTimeOfDay(&cache)
        guard fields.fault == .none else { return nil }
        (latitude, longitude) = fields.readCoordinates(&cache)
        if let solution = Self.meaningOfBestMode(in: fields.readWord()) {
            status = solution.0
            quality = solution.1
        } else {
            fields.recordUnreadableFlag()
        }
        readSolution(&fields, hasAltitudeUnit: false)
        guard validate(&fields) else { return nil }
    }

    /// Reads GLL, which contains only a position. The oldest receivers send neither status nor time.
    @inline(__always)
    init?(gll fields: inout FieldCursor, _ cache: inout FieldCache) {
        (latitude, longitude) = fields.readCoordinates(&cache)
        let faultOfPosition = fields.fault
        fields.fault = .none
        timeOfDay = fields.readTimeOfDay(&cache)
        guard fields.fault == .none else { return nil }
        fields.fault = faultOfPosition
        let letter = fields.readStatusFlag()
        if letter != 0 { (status, quality) = SolutionStatus.meaning(ofStatus: letter, mode: fields.readLetter()) }
        guard validate(&fields) else { return nil }
    }

    /// Reads PUBX,00, a position sentence that only u-blox receivers send. Its speed is in km/h.
    private init?(pubx00 fields: inout FieldCursor) {
        timeOfDay = fields.readTimeOfDay()
        guard fields.fault == .none else { return nil }
        latitude = fields.readLatitude()
        longitude = fields.readLongitude()
        _ = fields.readNumber(in: -10_000...100_000)  // altitude above the ellipsoid
        if let solution = Self.meaning(ofUbloxStatus: fields.readWord()) {
            status = solution.0
            quality = solution.1
            mode = solution.2
        } else {
            fields.recordUnreadableFlag()
        }
        horizontalAccuracyMeters = fields.readErrorInMeters()
        fields.skip()
        speedMetersPerSecond = fields.readSpeedInKilometersPerHour()
        courseDegrees = fields.readCourse()
        fields.skip(2)
        hdop = fields.readDilution()
        fields.skip(2)
        satellitesUsed = fields.readNumber(in: 0...255).map { Int($0) }
        guard validate(&fields) else { return nil }
    }

    /// Reads the fields that GGA and GNS share: satellites, HDOP, altitude and geoid separation.
    @inline(__always)
    private mutating func readSolution(_ fields: inout FieldCursor, hasAltitudeUnit: Bool) {
        satellitesUsed = fields.readNumber(in: 0...255).map { Int($0) }
        hdop = fields.readDilution()
        altitudeMeters = fields.readNumber(in: -10_000...100_000)
        if hasAltitudeUnit { fields.skip() }
        geoidSeparationMeters = fields.readNumber(in: -500...500)
    }

    /// Returns the meaning of the best mode letter; `nil` if the standard doesn't define any of the letters.
    private static func meaningOfBestMode(in letters: UInt64) -> (SolutionStatus, FixQuality?)? {
        var best: (SolutionStatus, FixQuality?) = (.void, nil)
        var isReadable = letters == 0
        var rest = letters
        while rest != 0 {
            let (status, quality) = SolutionStatus.meaning(ofMode: UInt8(truncatingIfNeeded: rest))
            if status == .excluded { return (status, quality) }
            isReadable = isReadable || status != .unconfirmed
            if status == .valid, best.0 == .void || rank(of: quality) > rank(of: best.1) { best = (status, quality) }
            rest >>= 8
        }
        return isReadable ? best : nil
    }

    private static func rank(of quality: FixQuality?) -> Int {
        switch quality {
        case .rtkFixed: 5
        case .rtkFloat: 4
        case .pps: 3
        case .dgps: 2
        case .gps: 1
        case .estimated, .manual, .simulated, nil: 0
        }
    }

    /// Returns the meaning of field 8 of PUBX,00; `nil` for a value that u-blox doesn't document.
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
    /// Reads the status letter of RMC or GLL; 0 if the field is empty. Records a fault for any letter other than `A`
    /// and `V`.
    @inline(__always)
    fileprivate mutating func readStatusFlag() -> UInt8 {
        let letter = readFlag()
        if letter != UInt8(ascii: "A"), letter != UInt8(ascii: "V"), letter != 0 { recordUnreadableFlag() }
        return letter
    }
}
