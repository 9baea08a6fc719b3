/// The types of sentences that affect fixes or cause warnings. Sentences of other types are only counted.
enum SentenceType: UInt8 {
    case rmc, gga, gns, gll, vtg, gsa, gst, gbs, zda, pubx00, pubx04, pgrme, pqtmepe, psrfepe, dtm, txt, hdt, ths, other

    /// Creates the type for an address, whatever its talker. `address` contains the first eight of the address's
    /// `length` bytes, with the first byte in the lowest bits.
    ///
    /// Addresses that begin with `P` are proprietary, except those of Quectel's talker `PQ`.
    @inline(__always)
    init(address: UInt64, length: Int) {
        let isProprietary = UInt8(truncatingIfNeeded: address) == UInt8(ascii: "P")
        if length == 5, !isProprietary || UInt8(truncatingIfNeeded: address >> 8) == UInt8(ascii: "Q") {
            switch address >> 16 & 0xFF_FFFF {
            case Self.code("RMC"): self = .rmc
            case Self.code("GGA"): self = .gga
            case Self.code("GNS"): self = .gns
            case Self.code("GLL"): self = .gll
            case Self.code("VTG"): self = .vtg
            case Self.code("GSA"): self = .gsa
            case Self.code("GST"): self = .gst
            case Self.code("GBS"): self = .gbs
            case Self.code("ZDA"): self = .zda
            case Self.code("DTM"): self = .dtm
            case Self.code("TXT"): self = .txt
            case Self.code("HDT"): self = .hdt
            case Self.code("THS"): self = .ths
            default: self = .other
            }
            return
        }
        guard isProprietary else {
            self = .other
            return
        }
        switch (length, address) {
        case (5, Self.code("PGRME")): self = .pgrme
        case (7, Self.code("PQTMEPE")): self = .pqtmepe
        case (7, Self.code("PSRFEPE")): self = .psrfepe
        case (4, Self.code("PUBX")): self = .pubx00  // or another PUBX sentence: `init(ubloxMessage:)` decides
        default: self = .other
        }
    }

    /// Creates the type of a u-blox sentence (PUBX) from the message number in its first field.
    init(ubloxMessage number: Int64?) {
        switch number {
        case 0: self = .pubx00
        case 4: self = .pubx04
        default: self = .other
        }
    }

    var containsPosition: Bool {
        switch self {
        case .rmc, .gga, .gns, .gll, .pubx00: true
        default: false
        }
    }

    /// Returns ASCII text as a number, with the first byte in the lowest bits.
    @inline(__always)
    static func code(_ text: StaticString) -> UInt64 {
        var code: UInt64 = 0
        text.withUTF8Buffer { bytes in
            for index in bytes.indices { unsafe code |= UInt64(bytes[index]) << UInt64(index * 8) }
        }
        return code
    }
}

/// The talker of a sentence, which is identified by the two letters before the sentence type in the address.
package enum Talker {
    /// Returns the talker of an address, such as `GP` of `GPRMC`; `nil` for a proprietary or malformed address.
    package static func code(ofAddress address: String) -> String? {
        guard address.utf8.count == 5, address.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else { return nil }
        guard address.hasPrefix("P"), !address.hasPrefix("PQ") else { return String(address.prefix(2)) }
        return nil
    }

    /// Returns the constellation or device for which a talker stands; `nil` if receivers don't use the talker.
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
