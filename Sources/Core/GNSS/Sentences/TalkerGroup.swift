/// A set of groups of talkers. A sentence that says that there is no position only voids the positions of its own
/// group.
struct TalkerGroup: OptionSet {
    let rawValue: UInt8

    /// The talkers of constellations and proprietary sentences; a receiver uses several of them in one epoch.
    static let receiver = Self(rawValue: 1)
    static let transponder = Self(rawValue: 2)
    static let navigationSystem = Self(rawValue: 4)
    static let others = Self(rawValue: 8)

    @inline(__always)
    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates the group of an address whose first byte is lowest.
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

/// The talkers that have sent sentences without a valid position, by source.
struct VoidTalkers {
    /// Eight bits per source.
    private var bySource: UInt32 = 0
    private(set) var all: TalkerGroup = []

    mutating func set(_ talker: TalkerGroup, of source: PositionSource) {
        let shift = UInt32(source.index * 8)
        bySource = bySource & ~(0xFF << shift) | UInt32(talker.rawValue) << shift
        let half = bySource | bySource >> 16
        all = TalkerGroup(rawValue: UInt8(truncatingIfNeeded: half | half >> 8))
    }
}
