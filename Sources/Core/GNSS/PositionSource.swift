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
