import GNSS

/// What a receiver makes of one moment, in the whole units in which it speaks.
struct ReceiverReading {
    let time: UTCTime
    let hasFix: Bool
    /// Units of 0.00001 minute.
    let latitude: Int64
    let longitude: Int64
    /// Thousandths of a knot.
    let speed: Int64
    /// Hundredths of a degree; `nil` at standstill.
    let course: Int64?
    /// Decimetres above mean sea level.
    let altitude: Int64
    /// Hundredths.
    let hdop: Int64
    let satellitesUsed: Int64

    /// Decimetres by which mean sea level lies above the ellipsoid where the drives take place.
    static let geoidSeparation: Int64 = 396
    /// Metres of range error that a reader is to take HDOP times.
    private static let rangeErrorMeters = 4.5

    /// The fix that a faithful reader of the sentences arrives at.
    var truth: Fix? {
        guard hasFix else { return nil }
        var fix = Fix(
            timeOfFix: time, latitude: Double(latitude) / 6_000_000, longitude: Double(longitude) / 6_000_000,
            quality: .gps)
        fix.altitudeMeters = Double(altitude) / 10
        fix.geoidSeparationMeters = Double(Self.geoidSeparation) / 10
        fix.speedMetersPerSecond = Double(speed) / 1000 * 1852 / 3600
        fix.headingDegrees = course.map { Double($0) / 100 }
        fix.hdop = Double(hdop) / 100
        fix.horizontalAccuracyMeters = Double(hdop) / 100 * Self.rangeErrorMeters
        fix.satellitesUsed = Int(satellitesUsed)
        fix.mode = .threeDimensional
        return fix
    }
}
