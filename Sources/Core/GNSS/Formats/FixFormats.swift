import TimeAndChance

/// Fixes as comma-separated values: one row a fix, empty where unknown.
package enum CSVFormat {
    /// Appends the row of column names, which are the keys of the JSON Lines.
    package static func appendHeader(to bytes: inout [UInt8]) {
        DecimalText.append("time,latitude,longitude,altitudeMeters,geoidSeparationMeters,", to: &bytes)
        DecimalText.append("speedMetersPerSecond,headingDegrees,horizontalAccuracyMeters,hdop,", to: &bytes)
        DecimalText.append("satellitesUsed,quality,mode,", to: &bytes)
        DecimalText.append("derivedSpeedMetersPerSecond,derivedHeadingDegrees\n", to: &bytes)
    }

    /// Appends the row of `fix` with its line feed; allocates only when `bytes` must grow.
    package static func append(_ fix: Fix, to bytes: inout [UInt8]) {
        fix.timeOfFix.append(to: &bytes)
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
        append(fix.derivedSpeedMetersPerSecond, FixPrecision.metersPerSecond, to: &bytes)
        append(fix.derivedHeadingDegrees, FixPrecision.headingDegrees, to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
    }

    @inline(__always)
    private static func append(_ value: Double?, _ decimals: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: ","))
        if let value { DecimalText.append(value, decimals: decimals, to: &bytes) }
    }
}

/// Fixes as a GPX 1.1 track; GPX has no place for speed, heading and accuracy in metres.
package enum GPXFormat {
    /// Appends everything before the first fix.
    package static func appendHeader(to bytes: inout [UInt8]) {
        DecimalText.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", to: &bytes)
        DecimalText.append(
            "<gpx version=\"1.1\" creator=\"Waypost\" xmlns=\"http://www.topografix.com/GPX/1/1\">\n<trk><trkseg>\n",
            to: &bytes)
    }

    /// Ends a segment where reception or the way was interrupted, and begins the next (GPX 1.1, `trkseg`).
    package static func appendBreak(to bytes: inout [UInt8]) {
        DecimalText.append("</trkseg><trkseg>\n", to: &bytes)
    }

    /// Appends the track point of `fix`, elements in the order of the schema.
    package static func append(_ fix: Fix, to bytes: inout [UInt8]) {
        DecimalText.append("<trkpt lat=\"", to: &bytes)
        DecimalText.append(fix.latitude, decimals: FixPrecision.degrees, to: &bytes)
        DecimalText.append("\" lon=\"", to: &bytes)
        DecimalText.append(fix.longitude, decimals: FixPrecision.degrees, to: &bytes)
        DecimalText.append("\">", to: &bytes)
        if let altitude = fix.altitudeMeters {
            DecimalText.append("<ele>", to: &bytes)
            DecimalText.append(altitude, decimals: FixPrecision.meters, to: &bytes)
            DecimalText.append("</ele>", to: &bytes)
        }
        DecimalText.append("<time>", to: &bytes)
        fix.timeOfFix.append(to: &bytes)
        DecimalText.append("</time>", to: &bytes)
        if let separation = fix.geoidSeparationMeters {
            DecimalText.append("<geoidheight>", to: &bytes)
            DecimalText.append(separation, decimals: FixPrecision.meters, to: &bytes)
            DecimalText.append("</geoidheight>", to: &bytes)
        }
        if let satellites = fix.satellitesUsed {
            DecimalText.append("<sat>", to: &bytes)
            DecimalText.append(UInt64(satellites.magnitude), to: &bytes)
            DecimalText.append("</sat>", to: &bytes)
        }
        if let hdop = fix.hdop {
            DecimalText.append("<hdop>", to: &bytes)
            DecimalText.append(hdop, decimals: FixPrecision.dilution, to: &bytes)
            DecimalText.append("</hdop>", to: &bytes)
        }
        DecimalText.append("</trkpt>\n", to: &bytes)
    }

    /// Appends everything after the last fix.
    package static func appendFooter(to bytes: inout [UInt8]) {
        DecimalText.append("</trkseg></trk>\n</gpx>\n", to: &bytes)
    }
}

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

/// Fixes as JSON Lines: one object a fix, keys in a fixed order, absent when unknown.
package enum JSONLinesFormat {
    /// Appends the line of `fix` with its line feed; allocates only when `bytes` must grow.
    package static func append(_ fix: Fix, to bytes: inout [UInt8]) {
        DecimalText.append("{\"time\":\"", to: &bytes)
        fix.timeOfFix.append(to: &bytes)
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
        DecimalText.append("\"", to: &bytes)
        append(
            ",\"derivedSpeedMetersPerSecond\":", fix.derivedSpeedMetersPerSecond, FixPrecision.metersPerSecond,
            to: &bytes)
        append(",\"derivedHeadingDegrees\":", fix.derivedHeadingDegrees, FixPrecision.headingDegrees, to: &bytes)
        DecimalText.append("}\n", to: &bytes)
    }

    @inline(__always)
    private static func append(_ key: StaticString, _ value: Double?, _ decimals: Int, to bytes: inout [UInt8]) {
        guard let value else { return }
        DecimalText.append(key, to: &bytes)
        DecimalText.append(value, decimals: decimals, to: &bytes)
    }
}

/// Numbers as ASCII, appended to a buffer that the caller keeps: no allocation once it has its size.
enum DecimalText {
    /// Appends `value` rounded to `decimals`, without trailing zeros: `52.5`, `-0.25`, `7`.
    @inline(__always)
    static func append(_ value: Double, decimals: Int, to bytes: inout [UInt8]) {
        let scale = Decimal.powerOfTen(decimals)
        let scaled = (value * Double(scale)).rounded()
        guard let number = Int64(exactly: scaled) else {
            bytes.append(UInt8(ascii: "0"))
            return
        }
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        let magnitude = number.magnitude
        let whole = magnitude / UInt64(scale)
        append(whole, to: &bytes)
        var fraction = magnitude - whole * UInt64(scale)
        guard fraction > 0 else { return }
        var digits = decimals
        while fraction % 10 == 0 {
            fraction /= 10
            digits -= 1
        }
        bytes.append(UInt8(ascii: "."))
        append(fraction, width: digits, to: &bytes)
    }

    @inline(__always)
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var (width, rest) = (1, value)
        while rest >= 10 {
            rest /= 10
            width += 1
        }
        append(value, width: width, to: &bytes)
    }

    /// Appends the lowest `width` digits, zeros in front.
    @inline(__always)
    static func append(_ value: UInt64, width: Int, to bytes: inout [UInt8]) {
        let start = bytes.count
        for _ in 0..<width { bytes.append(UInt8(ascii: "0")) }
        var (rest, place) = (value, start + width)
        while place > start {
            place -= 1
            bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }

    /// Appends text known at compile time.
    @inline(__always)
    static func append(_ text: StaticString, to bytes: inout [UInt8]) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }
}
