/// VTG: course and speed over ground.
struct MotionSentence {
    var speedMetersPerSecond: Double?
    var courseDegrees: Double?
    /// The meaning of the mode letter. Before NMEA 2.3, there is no such letter.
    var status = SolutionStatus.unconfirmed

    @inline(__always)
    init(vtg fields: inout FieldCursor) {
        courseDegrees = fields.readCourse()
        let mark = fields.readLetter()
        if mark == 0 || mark == UInt8(ascii: "T") {
            fields.skip(2)
            speedMetersPerSecond = fields.readSpeedInKnots()
            fields.skip()
            let kilometersPerHour = fields.readSpeedInKilometersPerHour()
            speedMetersPerSecond = speedMetersPerSecond ?? kilometersPerHour
            fields.skip()
            status = SolutionStatus.meaning(ofMode: fields.readLetter()).0
        } else {
            // Before NMEA 2, the sentence has four numbers without letters. The second one is the magnetic course.
            speedMetersPerSecond = fields.readSpeedInKnots()
            let kilometersPerHour = fields.readSpeedInKilometersPerHour()
            speedMetersPerSecond = speedMetersPerSecond ?? kilometersPerHour
        }
        if status == .void || status == .excluded { fields.clearFaults() }
    }
}

/// HDT and THS: the direction of the vehicle's front, which is known even at standstill.
struct HeadingSentence {
    /// The heading in degrees from true north, 0..<360; `nil` if the sentence contains none.
    var headingDegrees: Double?

    /// Reads HDT (a heading and `T`) or THS (a heading and a mode letter). Ignores headings that are simulated, entered
    /// by hand or void.
    init?(_ type: SentenceType, _ fields: inout FieldCursor) {
        headingDegrees = fields.readCourse()
        switch (type, fields.readLetter()) {
        case (.hdt, UInt8(ascii: "T")), (.hdt, 0): break
        case (.ths, UInt8(ascii: "A")), (.ths, UInt8(ascii: "E")), (.ths, UInt8(ascii: "D")): break
        case (.ths, UInt8(ascii: "V")), (.ths, UInt8(ascii: "M")), (.ths, UInt8(ascii: "S")),
            (.ths, UInt8(ascii: "N")), (.ths, 0):
            headingDegrees = nil
        default: fields.recordFault(.malformed)
        }
        fields.requireEveryField()
        guard fields.fault == .none else { return nil }
    }
}
