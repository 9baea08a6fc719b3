/// A sentence that contains the error of the position.
struct AccuracySentence {
    var timeOfDay: TimeOfDay?
    /// The radius of the 68 % circle, or the closest equivalent that the receiver reports.
    var horizontalAccuracyMeters: Double?

    /// Reads a sentence of one of the types that contain an error in metres; `nil` if its time can't be read.
    init?(_ type: SentenceType, _ fields: inout FieldCursor) {
        if type == .gst || type == .gbs || type == .psrfepe { timeOfDay = fields.timeOfDay() }
        switch type {
        case .gst:  // time, RMS, three fields of the error ellipse, then standard deviations
            fields.skip(4)
            horizontalAccuracyMeters = Self.radius(&fields)
        case .gbs: horizontalAccuracyMeters = Self.radius(&fields)
        case .pqtmepe:  // Quectel's: version, north, east, down, 2D, 3D
            fields.skip(4)
            horizontalAccuracyMeters = fields.errorInMeters()
        case .psrfepe:  // SiRF's: time, status, HDOP, horizontal error
            let status = fields.letter()
            fields.skip()
            let error = fields.errorInMeters()
            horizontalAccuracyMeters = status == UInt8(ascii: "A") ? error : nil
        default: horizontalAccuracyMeters = fields.errorInMeters()  // Garmin's PGRME
        }
        guard fields.fault == .none else { return nil }
    }

    private static func radius(_ fields: inout FieldCursor) -> Double? {
        let north = fields.errorInMeters()
        let east = fields.errorInMeters()
        guard let north, let east else { return nil }
        return (north * north + east * east).squareRoot()
    }
}

/// GSA: solution mode and dilution of precision.
struct SatellitesSentence {
    var mode: FixMode?
    var hdop: Double?

    @inline(__always)
    init(gsa fields: inout FieldCursor) {
        fields.skip()
        switch fields.letter() {
        case UInt8(ascii: "2"): mode = .twoDimensional
        case UInt8(ascii: "3"): mode = .threeDimensional
        case 0, UInt8(ascii: "1"): break
        default: fields.recordOmission(.malformed)
        }
        // Twelve satellites follow (one receiver sends 24), then PDOP, HDOP, VDOP and in newer versions a system ID.
        fields.skipMany(12)
        var longForm = fields
        fields.skip()
        hdop = fields.dilution()
        fields.skip(2)
        if !fields.isAtEnd {
            longForm.skip(13)
            hdop = longForm.dilution()
            fields = longForm
        }
    }
}
