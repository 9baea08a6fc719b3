import TimeAndRandomness

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
        bytes.append(separator)
        if let satellitesUsed = fix.satellitesUsed { bytes.append(number: Int64(satellitesUsed)) }
        bytes.append(separator)
        bytes.append(contentsOf: fix.quality.rawValue.utf8)
        bytes.append(separator)
        if let mode = fix.mode { bytes.append(contentsOf: mode.rawValue.utf8) }
        appendField(fix.derived.speedMetersPerSecond, decimals: FixPrecision.metersPerSecond, to: &bytes)
        appendField(fix.derived.headingDegrees, decimals: FixPrecision.headingDegrees, to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
    }

    private static let separator = UInt8(ascii: ",")

    private static func appendField(_ value: Double?, decimals: Int, to bytes: inout [UInt8]) {
        guard let value else { return bytes.append(separator) }
        bytes.append(value, decimals: decimals, after: separator)
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
            bytes.append(number: Int64(satellites))
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
            bytes.append(number: Int64(satellitesUsed))
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
    /// Appends 0 if the rounded value, without its point, doesn't fit into 64 bits. The number follows `separator`.
    fileprivate mutating func append(_ value: Double, decimals: Int, after separator: UInt8? = nil) {
        let scaled = (value * Double(Decimal.powersOfTen[decimals])).rounded()
        append(number: Int64(exactly: scaled) ?? 0, decimals: decimals, after: separator)
    }

    /// Appends `separator` and then `number` with its last `decimals` digits after the point, without trailing zeros.
    fileprivate mutating func append(number: Int64, decimals: Int = 0, after separator: UInt8? = nil) {
        // The text is written from its end: at most 19 digits, the point, the sign and the separator.
        var text = InlineArray<22, UInt8>(repeating: 0)
        var start = text.count
        func prepend(_ character: UInt8) {
            start -= 1
            text[start] = character
        }
        var rest = number.magnitude
        func prependDigit() {
            prepend(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        }
        var decimals = decimals
        while decimals > 0, rest % 10 == 0 {
            rest /= 10
            decimals -= 1
        }
        if decimals > 0 {
            for _ in 0..<decimals { prependDigit() }
            prepend(UInt8(ascii: "."))
        }
        repeat { prependDigit() } while rest > 0
        if number < 0 { prepend(UInt8(ascii: "-")) }
        if let separator { prepend(separator) }
        unsafe text.span.extracting(start...).withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
