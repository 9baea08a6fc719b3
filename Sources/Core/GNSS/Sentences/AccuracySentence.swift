/// Sentences that state errors, motion or solution mode, and no position of their own.
struct AccuracySentence {
    var timeOfDay: TimeOfDay?
    /// Radius of the 68 % circle, or the nearest to it that the receiver states.
    var horizontalAccuracyMeters: Double?

    /// GST: pseudorange noise statistics; standard deviations in metres.
    init?(gst fields: inout FieldCursor) {
        timeOfDay = fields.timeOfDay()
        fields.skip(4)
        horizontalAccuracyMeters = Self.radius(&fields)
        guard fields.fault == .none else { return nil }
    }

    /// GBS: satellite fault detection; expected errors in metres.
    init?(gbs fields: inout FieldCursor) {
        timeOfDay = fields.timeOfDay()
        horizontalAccuracyMeters = Self.radius(&fields)
        guard fields.fault == .none else { return nil }
    }

    /// PGRME: Garmin's estimated position error.
    init?(pgrme fields: inout FieldCursor) {
        horizontalAccuracyMeters = fields.errorInMeters()
        guard fields.fault == .none else { return nil }
    }

    /// PQTMEPE: Quectel's; version, north, east, down, 2D, 3D.
    init?(pqtmepe fields: inout FieldCursor) {
        fields.skip(4)
        horizontalAccuracyMeters = fields.errorInMeters()
        guard fields.fault == .none else { return nil }
    }

    /// PSRFEPE: SiRF's; time, status, HDOP, horizontal error.
    init?(psrfepe fields: inout FieldCursor) {
        timeOfDay = fields.timeOfDay()
        let status = fields.letter()
        fields.skip()
        horizontalAccuracyMeters = fields.errorInMeters()
        guard fields.fault == .none else { return nil }
        if status != UInt8(ascii: "A") { horizontalAccuracyMeters = nil }
    }

    private static func radius(_ fields: inout FieldCursor) -> Double? {
        let (north, east) = (fields.errorInMeters(), fields.errorInMeters())
        guard let north, let east else { return nil }
        return (north * north + east * east).squareRoot()
    }
}

/// GSA: solution mode and dilution of precision.
struct SatellitesSentence {
    var mode: FixMode?
    var hdop: Double?

    @inline(__always)
    init?(gsa fields: inout FieldCursor) {
        fields.skip()
        switch fields.letter() {
        case UInt8(ascii: "2"): mode = .twoDimensional
        case UInt8(ascii: "3"): mode = .threeDimensional
        case 0, UInt8(ascii: "1"): break
        default: fields.note(.malformed)
        }
        // Twelve satellites; one receiver sends twice as many. PDOP, HDOP, VDOP and perhaps a system id follow.
        fields.skipMany(12)
        var longForm = fields
        fields.skip()
        hdop = fields.dilution()
        fields.skip(2)
        if !fields.isAtEnd {
            longForm.skip(13)
            hdop = longForm.dilution()
            guard longForm.fault == .none else {
                fields = longForm
                return nil
            }
        }
        guard fields.fault == .none else { return nil }
    }
}
