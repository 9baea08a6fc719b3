/// The method by which a position was found, from the GGA quality field and the mode letters (NMEA 0183 4.11).
package enum FixQuality: String, Sendable, Hashable, CaseIterable {
    case gps, dgps, pps, rtkFixed, rtkFloat
    /// Dead reckoning.
    case estimated
    case manual, simulated
}

/// The number of dimensions of a position solution (GSA field 2). Only a three-dimensional solution includes an
/// altitude.
package enum FixMode: String, Sendable, Hashable, CaseIterable {
    case twoDimensional = "2d"
    case threeDimensional = "3d"
}

/// A set of sentence types that contain positions. The raw value of a single type is also its rank. The position of an
/// epoch is from the type with the highest rank.
struct PositionSource: OptionSet {
    let rawValue: UInt8

    static let gll = Self(rawValue: 1)
    static let rmc = Self(rawValue: 2)
    static let pubx00 = Self(rawValue: 4)
    /// GGA or GNS.
    static let gga = Self(rawValue: 8)

    @inline(__always)
    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The index of the only type in the set, 0...3.
    @inline(__always)
    var index: Int { rawValue.trailingZeroBitCount }

    @inline(__always)
    init(_ type: SentenceType) {
        switch type {
        case .gll: self = .gll
        case .rmc: self = .rmc
        case .pubx00: self = .pubx00
        default: self = .gga
        }
    }
}

/// The validity of a sentence's position. Only flags decide it; the presence of coordinates means nothing.
enum SolutionStatus: Hashable {
    case valid
    case void
    /// The position was simulated or entered by hand, so it never becomes a fix.
    case excluded
    /// The position must be confirmed by another sentence, because this sentence has no flag (old GLL) or its flag
    /// isn't sufficient.
    case unconfirmed
}

extension SolutionStatus {
    /// Returns the meaning of GGA field 6; `nil` for a character that the standard doesn't define.
    @inline(__always)
    static func meaning(ofQuality letter: UInt8) -> (SolutionStatus, FixQuality?)? {
        switch letter {
        case UInt8(ascii: "1"): (.valid, .gps)
        case UInt8(ascii: "2"): (.valid, .dgps)
        case UInt8(ascii: "3"): (.valid, .pps)
        case UInt8(ascii: "4"): (.valid, .rtkFixed)
        case UInt8(ascii: "5"): (.valid, .rtkFloat)
        case UInt8(ascii: "6"): (.valid, .estimated)
        case UInt8(ascii: "7"): (.excluded, .manual)
        case UInt8(ascii: "8"): (.excluded, .simulated)
        case UInt8(ascii: "0"), 0: (.void, nil)
        default: nil
        }
    }

    /// Returns the meaning of a mode letter. A letter that the standard doesn't define neither confirms nor voids a
    /// position.
    @inline(__always)
    static func meaning(ofMode letter: UInt8) -> (SolutionStatus, FixQuality?) {
        switch letter {
        case UInt8(ascii: "A"): (.valid, .gps)
        case UInt8(ascii: "D"): (.valid, .dgps)
        case UInt8(ascii: "P"): (.valid, .pps)
        case UInt8(ascii: "R"): (.valid, .rtkFixed)
        case UInt8(ascii: "F"): (.valid, .rtkFloat)
        case UInt8(ascii: "E"): (.valid, .estimated)
        case UInt8(ascii: "M"): (.excluded, .manual)
        case UInt8(ascii: "S"): (.excluded, .simulated)
        case UInt8(ascii: "N"): (.void, nil)
        default: (.unconfirmed, nil)
        }
    }

    /// Returns the meaning of a status letter (`A` or `V`) and the mode letter that follows it. `mode` is 0 if the
    /// sentence has no mode letter.
    @inline(__always)
    static func meaning(ofStatus status: UInt8, mode: UInt8) -> (SolutionStatus, FixQuality?) {
        let (modeStatus, quality) = meaning(ofMode: mode)
        if modeStatus == .excluded { return (.excluded, quality) }
        guard status == UInt8(ascii: "A"), modeStatus != .void else { return (.void, nil) }
        return (.valid, quality)
    }
}
