/// Fixes as JSON Lines: one object a fix, keys in a fixed order, absent when unknown.
package enum JSONLinesFormat {
    /// Appends the line of `fix` with its line feed; allocates only when `bytes` must grow.
    package static func append(_ fix: Fix, to bytes: inout [UInt8]) {
        DecimalText.append("{\"time\":\"", to: &bytes)
        DecimalText.append(fix.timeOfFix, to: &bytes)
        DecimalText.append("\",\"latitude\":", to: &bytes)
        DecimalText.append(fix.latitude, decimals: FixPrecision.degrees, to: &bytes)
        DecimalText.append(",\"longitude\":", to: &bytes)
        DecimalText.append(fix.longitude, decimals: FixPrecision.degrees, to: &bytes)
        append(",\"altitudeMeters\":", fix.altitudeMeters, FixPrecision.meters, to: &bytes)
        append(",\"geoidSeparationMeters\":", fix.geoidSeparationMeters, FixPrecision.meters, to: &bytes)
        append(",\"speedMetersPerSecond\":", fix.speedMetersPerSecond, FixPrecision.metersPerSecond, to: &bytes)
        append(",\"headingDegrees\":", fix.headingDegrees, FixPrecision.headingDegrees, to: &bytes)
        append(",\"horizontalAccuracyMeters\":", fix.horizontalAccuracyMeters, FixPrecision.meters, to: &bytes)
        append(",\"hdop\":", fix.hdop, FixPrecision.dilution, to: &bytes)
        if let satellitesUsed = fix.satellitesUsed {
            DecimalText.append(",\"satellitesUsed\":", to: &bytes)
            DecimalText.append(UInt64(satellitesUsed.magnitude), to: &bytes)
        }
        DecimalText.append(",\"quality\":\"", to: &bytes)
        DecimalText.append(fix.quality.text, to: &bytes)
        if let mode = fix.mode {
            DecimalText.append("\",\"mode\":\"", to: &bytes)
            DecimalText.append(mode.text, to: &bytes)
        }
        DecimalText.append("\"}\n", to: &bytes)
    }

    @inline(__always)
    private static func append(_ key: StaticString, _ value: Double?, _ decimals: Int, to bytes: inout [UInt8]) {
        guard let value else { return }
        DecimalText.append(key, to: &bytes)
        DecimalText.append(value, decimals: decimals, to: &bytes)
    }
}
