/// VTG: course and speed over ground.
struct MotionSentence {
    var speedMetersPerSecond: Double?
    var courseDegrees: Double?
    /// The meaning of the mode letter, which sentences before NMEA 2.3 lack.
    var status = SolutionStatus.unconfirmed

    @inline(__always)
    init(vtg fields: inout FieldCursor) {
        courseDegrees = fields.course()
        let mark = fields.letter()
        if mark == 0 || mark == UInt8(ascii: "T") {
            fields.skip(2)
            speedMetersPerSecond = fields.speedInKnots()
            fields.skip()
            let kilometersPerHour = fields.speedInKilometersPerHour()
            speedMetersPerSecond = speedMetersPerSecond ?? kilometersPerHour
            fields.skip()
            status = SolutionStatus.ofMode(fields.letter()).0
        } else {
            // The form before NMEA 2 has four numbers without letters; the second is the magnetic course.
            speedMetersPerSecond = fields.speedInKnots()
            let kilometersPerHour = fields.speedInKilometersPerHour()
            speedMetersPerSecond = speedMetersPerSecond ?? kilometersPerHour
        }
        if status == .void || status == .excluded { fields.forgiveFaults() }
    }
}

/// HDT and THS: the direction of the vehicle's front, known at standstill too.
struct HeadingSentence {
    /// The heading in degrees from true north, 0..<360; `nil` if the sentence states none.
    var headingDegrees: Double?

    /// HDT: heading and `T`. THS: heading and a mode letter; simulated, manual and void headings are ignored.
    init?(_ type: SentenceType, _ fields: inout FieldCursor) {
        headingDegrees = fields.course()
        switch (type, fields.letter()) {
        case (.hdt, UInt8(ascii: "T")), (.hdt, 0): break
        case (.ths, UInt8(ascii: "A")), (.ths, UInt8(ascii: "E")), (.ths, UInt8(ascii: "D")): break
        case (.ths, UInt8(ascii: "V")), (.ths, UInt8(ascii: "M")), (.ths, UInt8(ascii: "S")),
            (.ths, UInt8(ascii: "N")), (.ths, 0):
            headingDegrees = nil
        default: fields.note(.malformed)
        }
        fields.requireEveryField()
        guard fields.fault == .none else { return nil }
    }
}
