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
        DecimalText.append(fix.timeOfFix, to: &bytes)
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
