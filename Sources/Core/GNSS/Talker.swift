/// Whose position a sentence states: the two letters in front of its type.
package enum Talker {
    /// The talker of an address, as `GP` of `GPRMC`; `nil` for a maker's own sentence and for what is no NMEA address.
    package static func talker(ofAddress address: String) -> String? {
        guard address.utf8.count == 5, address.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else { return nil }
        guard address.hasPrefix("P"), !address.hasPrefix("PQ") else { return String(address.prefix(2)) }
        return nil
    }

    /// The constellation or device that a talker stands for; `nil` when it is not one that receivers use.
    package static func meaning(of talker: String) -> String? {
        switch talker {
        case "GP": "GPS"
        case "GL": "GLONASS"
        case "GA": "Galileo"
        case "GB", "BD": "BeiDou"
        case "GQ", "QZ": "QZSS"
        case "GI": "NavIC"
        case "GN": "several constellations"
        case "PQ": "Quectel's BeiDou and QZSS"
        case "II", "IN": "integrated navigation"
        case "EC": "chart system"
        case "SN": "electronic positioning"
        case "LC": "Loran C"
        case "HE": "gyrocompass"
        case "HC": "magnetic compass"
        case "SD": "depth sounder"
        case "VW": "speed log"
        case "WI": "weather instruments"
        case "AI": "AIS transponder"
        default: nil
        }
    }
}
