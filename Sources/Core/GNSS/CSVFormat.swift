/// Fixes as comma-separated values: one row a fix, empty where unknown.
package enum CSVFormat {
    /// Appends the row of column names, which are the keys of the JSON Lines.
    package static func appendHeader(to bytes: inout [UInt8]) {
        DecimalText.append("time,latitude,longitude,altitudeMeters,geoidSeparationMeters,", to: &bytes)
        DecimalText.append("speedMetersPerSecond,headingDegrees,horizontalAccuracyMeters,hdop,", to: &bytes)
        DecimalText.append("satellitesUsed,quality,mode\n", to: &bytes)
    }

    /// Appends the row of `fix` with its line feed; allocates only when `bytes` must grow.
    package static func append(_ fix: Fix, to bytes: inout [UInt8]) {
        DecimalText.append(fix.timeOfFix, to: &bytes)
        append(fix.latitude, FixPrecision.degrees, to: &bytes)
        append(fix.longitude, FixPrecision.degrees, to: &bytes)
        append(fix.altitudeMeters, FixPrecision.meters, to: &bytes)
        append(fix.geoidSeparationMeters, FixPrecision.meters, to: &bytes)
        append(fix.speedMetersPerSecond, FixPrecision.metersPerSecond, to: &bytes)
        append(fix.headingDegrees, FixPrecision.headingDegrees, to: &bytes)
        append(fix.horizontalAccuracyMeters, FixPrecision.meters, to: &bytes)
        append(fix.hdop, FixPrecision.dilution, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        if let satellitesUsed = fix.satellitesUsed { DecimalText.append(UInt64(satellitesUsed.magnitude), to: &bytes) }
        bytes.append(UInt8(ascii: ","))
        DecimalText.append(fix.quality.text, to: &bytes)
        bytes.append(UInt8(ascii: ","))
        if let mode = fix.mode { DecimalText.append(mode.text, to: &bytes) }
        bytes.append(UInt8(ascii: "\n"))
    }

    @inline(__always)
    private static func append(_ value: Double?, _ decimals: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: ","))
        if let value { DecimalText.append(value, decimals: decimals, to: &bytes) }
    }
}
