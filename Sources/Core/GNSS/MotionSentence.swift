/// VTG: course and speed over ground.
struct MotionSentence {
    var speedMetersPerSecond: Double?
    var courseDegrees: Double?
    /// Void when the mode letter says so; unstated before NMEA 2.3.
    var status = SolutionStatus.unstated

    @inline(__always)
    init?(vtg fields: inout FieldCursor) {
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
            // The form before NMEA 2: four numbers without their letters; the second was the magnetic course.
            speedMetersPerSecond = fields.speedInKnots()
            let kilometersPerHour = fields.speedInKilometersPerHour()
            speedMetersPerSecond = speedMetersPerSecond ?? kilometersPerHour
        }
        guard status != .void, status != .excluded else { return }
        guard fields.fault == .none else { return nil }
    }
}
