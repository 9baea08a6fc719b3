/// A set of groups of talkers. A sentence that says that there is no position voids only the positions from talkers of
/// the same group.
struct TalkerGroup: OptionSet {
    let rawValue: UInt8

    /// The talkers of constellations and of proprietary sentences. A receiver uses several of them in one epoch.
    static let receiver = Self(rawValue: 1)
    static let transponder = Self(rawValue: 2)
    static let navigationSystem = Self(rawValue: 4)
    static let others = Self(rawValue: 8)

    @inline(__always)
    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates the group for an address whose first byte is in the lowest bits.
    @inline(__always)
    init(address: UInt64) {
        let first = UInt8(truncatingIfNeeded: address)
        self = first == UInt8(ascii: "G") || first == UInt8(ascii: "P") ? .receiver : Self(otherAddress: address)
    }

    private init(otherAddress: UInt64) {
        switch otherAddress & 0xFFFF {
        case SentenceType.code("BD"), SentenceType.code("QZ"): self = .receiver
        case SentenceType.code("AI"): self = .transponder
        case SentenceType.code("II"), SentenceType.code("IN"): self = .navigationSystem
        default: self = .others
        }
    }
}

/// The groups of the talkers whose sentences say that there is no position, by sentence type.
struct VoidTalkers {
    /// The groups, in eight bits per sentence type.
    private var bySource: UInt32 = 0
    private(set) var all: TalkerGroup = []

    mutating func set(_ talker: TalkerGroup, for source: PositionSource) {
        let shift = UInt32(source.index * 8)
        bySource = bySource & ~(0xFF << shift) | UInt32(talker.rawValue) << shift
        let half = bySource | bySource >> 16
        all = TalkerGroup(rawValue: UInt8(truncatingIfNeeded: half | half >> 8))
    }
}
