package import GNSS
import TimeAndChance

extension Fix {
    /// A fix `second` seconds after 2026-01-05T10:00:00Z, `north` metres north of a fixed place.
    package static func sample(
        _ second: Double, north: Double = 0, speed: Double? = nil, accuracy: Double? = 5
    ) -> Fix {
        let start = UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: 36_000_000)
        var fix = Fix(
            timeOfFix: start.advanced(by: .milliseconds(Int64(second * 1000))), latitude: 50 + north / 111_195,
            longitude: 10)
        fix.speedMetersPerSecond = speed
        fix.horizontalAccuracyMeters = accuracy
        return fix
    }
}
