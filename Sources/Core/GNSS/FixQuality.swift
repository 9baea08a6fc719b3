/// How a position was found; the words of the GGA quality field and of the mode letters (NMEA 0183 4.11).
package enum FixQuality: String, Sendable, Hashable, CaseIterable {
    case gps, dgps, pps, rtkFixed, rtkFloat
    /// Dead reckoning.
    case estimated
    case manual, simulated
}

/// The words of written fixes, ready without a `String`.
extension FixQuality {
    var text: StaticString {
        switch self {
        case .gps: "gps"
        case .dgps: "dgps"
        case .pps: "pps"
        case .rtkFixed: "rtkFixed"
        case .rtkFloat: "rtkFloat"
        case .estimated: "estimated"
        case .manual: "manual"
        case .simulated: "simulated"
        }
    }
}

extension FixMode {
    var text: StaticString {
        switch self {
        case .twoDimensional: "2d"
        case .threeDimensional: "3d"
        }
    }
}

/// Whether altitude was solved for (GSA field 2).
package enum FixMode: String, Sendable, Hashable, CaseIterable {
    case twoDimensional = "2d"
    case threeDimensional = "3d"
}

/// Which sentence types state positions, from the one that an epoch's position is taken from last to the first.
struct PositionSource: OptionSet {
    let rawValue: UInt8

    /// GLL.
    static let bare = Self(rawValue: 1)
    /// RMC.
    static let minimum = Self(rawValue: 2)
    /// PUBX,00.
    static let maker = Self(rawValue: 4)
    /// GGA and GNS.
    static let data = Self(rawValue: 8)

    @inline(__always)
    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The place of a single source among the four.
    @inline(__always)
    var index: Int { rawValue.trailingZeroBitCount }

    @inline(__always)
    init(_ type: SentenceType) {
        switch type {
        case .gll: self = .bare
        case .rmc: self = .minimum
        case .pubx00: self = .maker
        default: self = .data
        }
    }
}

/// What a sentence's flags say about its position. Validity comes from flags, never from the presence of numbers.
enum SolutionStatus: Hashable {
    case valid
    case void
    /// Simulated or typed in by hand: never a fix.
    case excluded
    /// The sentence has no flag (old GLL), or one that another sentence must bear out.
    case unstated
}

extension SolutionStatus {
    /// The meaning of GGA field 6; `nil` for a character that the standard doesn't have there.
    @inline(__always)
    static func ofQuality(_ letter: UInt8) -> (SolutionStatus, FixQuality?)? {
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

    /// The meaning of a mode letter; makers' own letters say nothing.
    @inline(__always)
    static func ofMode(_ letter: UInt8) -> (SolutionStatus, FixQuality?) {
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
        default: (.unstated, nil)
        }
    }

    /// A status letter `A` or `V` together with the mode letter behind it, which may be missing.
    @inline(__always)
    static func of(status: UInt8, mode: UInt8) -> (SolutionStatus, FixQuality?) {
        let (ofMode, quality) = ofMode(mode)
        if ofMode == .excluded { return (.excluded, quality) }
        guard status == UInt8(ascii: "A"), ofMode != .void else { return (.void, nil) }
        return (.valid, quality)
    }
}
