/// A sentence in which the receiver estimates the error of the position.
struct AccuracySentence {
    var timeOfDay: TimeOfDay?
    /// The radius in metres of the circle that contains the true position with a probability of 68 %. If the receiver
    /// doesn't report that radius, this is the closest equivalent.
    var horizontalAccuracyMeters: Double?

    /// Reads a sentence that contains a position error in metres; `nil` if its time can't be read.
    init?(_ type: SentenceType, _ fields: inout FieldCursor) {
        if type == .gst || type == .gbs || type == .psrfepe { timeOfDay = fields.readTimeOfDay() }
        switch type {
        case .gst:  // time, RMS, three fields of the error ellipse, then standard deviations
            fields.skip(4)
            horizontalAccuracyMeters = Self.readRadius(&fields)
        case .gbs: horizontalAccuracyMeters = Self.readRadius(&fields)
        case .pqtmepe:  // Quectel's: version, north, east, down, 2D, 3D
            fields.skip(4)
            horizontalAccuracyMeters = fields.readErrorInMeters()
        case .psrfepe:  // SiRF's: time, status, HDOP, horizontal error
            let status = fields.readLetter()
            fields.skip()
            let error = fields.readErrorInMeters()
            horizontalAccuracyMeters = status == UInt8(ascii: "A") ? error : nil
        default: horizontalAccuracyMeters = fields.readErrorInMeters()  // Garmin's PGRME
        }
        guard fields.fault == .none else { return nil }
    }

    private static func readRadius(_ fields: inout FieldCursor) -> Double? {
        let north = fields.readErrorInMeters()
        let east = fields.readErrorInMeters()
        guard let north, let east else { return nil }
        return (north * north + east * east).squareRoot()
    }
}

/// GSA: the solution mode and the dilution of precision.
struct SatellitesSentence {
    var mode: FixMode?
    var hdop: Double?

    @inline(__always)
    init(gsa fields: inout FieldCursor) {
        fields.skip()
        switch fields.readLetter() {
        case UInt8(ascii: "2"): mode = .twoDimensional
        case UInt8(ascii: "3"): mode = .threeDimensional
        case 0, UInt8(ascii: "1"): break
        default: fields.recordOmission(.malformed)
        }
        // The fields that follow are twelve satellites (24 from one receiver), PDOP, HDOP, VDOP, and a system ID in
        // newer versions.
        fields.skipMany(12)
        var longForm = fields
        fields.skip()
        hdop = fields.readDilution()
        fields.skip(2)
        if !fields.isAtEnd {
            longForm.skip(13)
            hdop = longForm.readDilution()
            fields = longForm
        }
    }
}
