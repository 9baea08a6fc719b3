import TimeAndChance

/// The format for comma-separated values, with one row per fix. Unknown values are empty.
package enum CSVFormat {
    /// Appends the row of column names. The names are the keys of `JSONLinesFormat`.
    package static func appendHeader(to bytes: inout [UInt8]) {
        bytes.append("time,latitude,longitude,altitudeMeters,geoidSeparationMeters,")
        bytes.append("speedMetersPerSecond,headingDegrees,horizontalAccuracyMeters,hdop,")
        bytes.append("satellitesUsed,quality,mode,")
        bytes.append("derivedSpeedMetersPerSecond,derivedHeadingDegrees\n")
    }

    /// Appends the row of `fix`, including its line feed. Allocates memory only if `bytes` must grow.
    package static func append(_ fix: Fix, to bytes: inout [UInt8]) {
        fix.timeOfFix.append(to: &bytes)
        appendField(fix.latitude, decimals: FixPrecision.degrees, to: &bytes)
        appendField(fix.longitude, decimals: FixPrecision.degrees, to: &bytes)
        appendField(fix.altitudeMeters, decimals: FixPrecision.meters, to: &bytes)
        appendField(fix.geoidSeparationMeters, decimals: FixPrecision.meters, to: &bytes)
        appendField(fix.speedMetersPerSecond, decimals: FixPrecision.metersPerSecond, to: &bytes)
        appendField(fix.headingDegrees, decimals: FixPrecision.headingDegrees, to: &bytes)
        appendField(fix.horizontalAccuracyMeters, decimals: FixPrecision.meters, to: &bytes)
        appendField(fix.hdop, decimals: FixPrecision.dilution, to: &bytes)
        bytes.append(",")
        if let satellitesUsed = fix.satellitesUsed { bytes.append(number: UInt64(satellitesUsed.magnitude)) }
        bytes.append(",")
        bytes.append(contentsOf: fix.quality.rawValue.utf8)
        bytes.append(",")
        if let mode = fix.mode { bytes.append(contentsOf: mode.rawValue.utf8) }
        appendField(fix.derived.speedMetersPerSecond, decimals: FixPrecision.metersPerSecond, to: &bytes)
        appendField(fix.derived.headingDegrees, decimals: FixPrecision.headingDegrees, to: &bytes)
        bytes.append("\n")
    }

    @inline(__always)
    private static func appendField(_ value: Double?, decimals: Int, to bytes: inout [UInt8]) {
        bytes.append(",")
        if let value { bytes.append(value, decimals: decimals) }
    }
}

/// The format for a GPX 1.1 track. GPX has no elements for speed, heading or accuracy in metres.
package enum GPXFormat {
    /// Appends everything before the first fix.
    package static func appendHeader(to bytes: inout [UInt8]) {
        bytes.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        bytes.append("<gpx version=\"1.1\" creator=\"Waypost\" xmlns=\"http://www.topografix.com/GPX/1/1\">\n")
        bytes.append("<trk><trkseg>\n")
    }

    /// Ends the track segment (GPX 1.1, `trkseg`) and begins another, because there is a gap or a jump in the track.
    package static func appendBreak(to bytes: inout [UInt8]) {
        bytes.append("</trkseg><trkseg>\n")
    }

    /// Appends the track point of `fix` with its elements in the order of the schema.
    package static func append(_ fix: Fix, to bytes: inout [UInt8]) {
        bytes.append("<trkpt lat=\"", fix.latitude, decimals: FixPrecision.degrees)
        bytes.append("\" lon=\"", fix.longitude, decimals: FixPrecision.degrees, suffix: "\">")
        bytes.append("<ele>", fix.altitudeMeters, decimals: FixPrecision.meters, suffix: "</ele>")
        bytes.append("<time>")
        fix.timeOfFix.append(to: &bytes)
        bytes.append("</time>")
        bytes.append(
            "<geoidheight>", fix.geoidSeparationMeters, decimals: FixPrecision.meters, suffix: "</geoidheight>")
        if let satellites = fix.satellitesUsed {
            bytes.append("<sat>")
            bytes.append(number: UInt64(satellites.magnitude))
            bytes.append("</sat>")
        }
        bytes.append("<hdop>", fix.hdop, decimals: FixPrecision.dilution, suffix: "</hdop>")
        bytes.append("</trkpt>\n")
    }

    /// Appends everything after the last fix.
    package static func appendFooter(to bytes: inout [UInt8]) {
        bytes.append("</trkseg></trk>\n</gpx>\n")
    }
}

/// The format for a GeoJSON collection of points (RFC 7946). The coordinates are longitude, latitude and, if known, the
/// height above the ellipsoid. The properties are those of `JSONLinesFormat`.
package enum GeoJSONFormat {
    /// Appends everything before the first fix.
    package static func appendHeader(to bytes: inout [UInt8]) {
        bytes.append("{\"type\":\"FeatureCollection\",\"features\":[\n")
    }

    /// Appends the feature of `fix`, preceded by a comma unless `isFirst`.
    package static func append(_ fix: Fix, isFirst: Bool, to bytes: inout [UInt8]) {
        if !isFirst { bytes.append(",\n") }
        bytes.append("{\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[")
        bytes.append(fix.longitude, decimals: FixPrecision.degrees)
        bytes.append(",", fix.latitude, decimals: FixPrecision.degrees)
        if let altitude = fix.altitudeMeters, let separation = fix.geoidSeparationMeters {
            bytes.append(",", altitude + separation, decimals: FixPrecision.meters)
        }
        bytes.append("]},\"properties\":")
        JSONLinesFormat.append(fix, to: &bytes)
        bytes.removeLast()  // removes the line feed
        bytes.append("}")
    }

    /// Appends everything after the last fix.
    package static func appendFooter(to bytes: inout [UInt8]) { bytes.append("\n]}\n") }
}

/// The JSON Lines format, with one object per fix. The keys are in a fixed order. Unknown values are omitted.
package enum JSONLinesFormat {
    /// Appends the line of `fix`, including its line feed. Allocates memory only if `bytes` must grow.
    package static func append(_ fix: Fix, to bytes: inout [UInt8]) {
        bytes.append("{\"time\":\"")
        fix.timeOfFix.append(to: &bytes)
        bytes.append("\",\"latitude\":", fix.latitude, decimals: FixPrecision.degrees)
        bytes.append(",\"longitude\":", fix.longitude, decimals: FixPrecision.degrees)
        bytes.append(",\"altitudeMeters\":", fix.altitudeMeters, decimals: FixPrecision.meters)
        bytes.append(",\"geoidSeparationMeters\":", fix.geoidSeparationMeters, decimals: FixPrecision.meters)
        bytes.append(",\"speedMetersPerSecond\":", fix.speedMetersPerSecond, decimals: FixPrecision.metersPerSecond)
        bytes.append(",\"headingDegrees\":", fix.headingDegrees, decimals: FixPrecision.headingDegrees)
        bytes.append(",\"horizontalAccuracyMeters\":", fix.horizontalAccuracyMeters, decimals: FixPrecision.meters)
        bytes.append(",\"hdop\":", fix.hdop, decimals: FixPrecision.dilution)
        if let satellitesUsed = fix.satellitesUsed {
            bytes.append(",\"satellitesUsed\":")
            bytes.append(number: UInt64(satellitesUsed.magnitude))
        }
        bytes.append(",\"quality\":\"")
        bytes.append(contentsOf: fix.quality.rawValue.utf8)
        if let mode = fix.mode {
            bytes.append("\",\"mode\":\"")
            bytes.append(contentsOf: mode.rawValue.utf8)
        }
        bytes.append("\"")
        bytes.append(
            ",\"derivedSpeedMetersPerSecond\":", fix.derived.speedMetersPerSecond,
            decimals: FixPrecision.metersPerSecond
        )
        bytes.append(",\"derivedHeadingDegrees\":", fix.derived.headingDegrees, decimals: FixPrecision.headingDegrees)
        bytes.append("}\n")
    }
}

/// Functions that append text and numbers as ASCII. They don't allocate memory once the caller's buffer is large
/// enough.
extension [UInt8] {
    @inline(__always)
    fileprivate mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends `value`, rounded to `decimals` digits after the point, between `prefix` and `suffix`. Appends nothing if
    /// `value` is `nil`.
    @inline(__always)
    fileprivate mutating func append(
        _ prefix: StaticString, _ value: Double?, decimals: Int, suffix: StaticString = ""
    ) {
        guard let value else { return }
        append(prefix)
        append(value, decimals: decimals)
        append(suffix)
    }

    /// Appends `value`, rounded to `decimals` digits after the point, without trailing zeros: `52.5`, `-0.25`, `7`.
    @inline(__always)
    fileprivate mutating func append(_ value: Double, decimals: Int) {
        let scale = Decimal.powersOfTen[decimals]
        let scaled = (value * Double(scale)).rounded()
        guard let number = Int64(exactly: scaled) else { return append("0") }
        if number < 0 { append("-") }
        let magnitude = number.magnitude
        let whole = magnitude / UInt64(scale)
        append(number: whole)
        var fraction = magnitude - whole * UInt64(scale)
        guard fraction > 0 else { return }
        var digits = decimals
        while fraction % 10 == 0 {
            fraction /= 10
            digits -= 1
        }
        append(".")
        append(number: fraction, width: digits)
    }

    @inline(__always)
    fileprivate mutating func append(number value: UInt64) {
        var width = 1
        var rest = value
        while rest >= 10 {
            rest /= 10
            width += 1
        }
        append(number: value, width: width)
    }

    /// Appends the last `width` decimal digits of `value`, including leading zeros.
    @inline(__always)
    private mutating func append(number value: UInt64, width: Int) {
        let start = count
        for _ in 0..<width { append(UInt8(ascii: "0")) }
        var rest = value
        var place = start + width
        while place > start {
            place -= 1
            self[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
    }
}
