/// Fixes as a GeoJSON collection of points (RFC 7946): longitude first, then latitude, then height above the ellipsoid;
/// what `JSONLinesFormat` says of a fix stands in its properties.
package enum GeoJSONFormat {
    /// Appends everything before the first fix.
    package static func appendHeader(to bytes: inout [UInt8]) {
        DecimalText.append("{\"type\":\"FeatureCollection\",\"features\":[\n", to: &bytes)
    }

    /// Appends the feature of `fix`, with a comma in front unless it `isFirst`.
    package static func append(_ fix: Fix, isFirst: Bool, to bytes: inout [UInt8]) {
        if !isFirst { DecimalText.append(",\n", to: &bytes) }
        DecimalText.append("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[", to: &bytes)
        DecimalText.append(fix.longitude, decimals: FixPrecision.degrees, to: &bytes)
        DecimalText.append(",", to: &bytes)
        DecimalText.append(fix.latitude, decimals: FixPrecision.degrees, to: &bytes)
        if let altitude = fix.altitudeMeters, let separation = fix.geoidSeparationMeters {
            DecimalText.append(",", to: &bytes)
            DecimalText.append(altitude + separation, decimals: FixPrecision.meters, to: &bytes)
        }
        DecimalText.append("]},\"properties\":", to: &bytes)
        JSONLinesFormat.append(fix, to: &bytes)
        bytes.removeLast()  // the line feed of a JSON line
        DecimalText.append("}", to: &bytes)
    }

    /// Appends everything after the last fix.
    package static func appendFooter(to bytes: inout [UInt8]) { DecimalText.append("\n]}\n", to: &bytes) }
}
