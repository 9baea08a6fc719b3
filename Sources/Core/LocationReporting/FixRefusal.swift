package import GNSS

/// Why a fix is not believed.
package enum FixRefusal: Sendable, Hashable, CustomStringConvertible {
    case positionOutOfRange
    /// Exactly 0, 0: what gateways without data send.
    case nullIsland
    case before(UTCTime)
    case after(UTCTime)
    case notAdvancing
    /// Far from every time known so far; believed once others confirm it.
    case unconfirmedTime
    case jump(meters: Int)
    /// The speeds that it and the last fix state cannot follow each other.
    case acceleration(metersPerSecondSquared: Int)

    /// One word for a metric's label.
    package var label: String {
        switch self {
        case .positionOutOfRange: "position_out_of_range"
        case .nullIsland: "zero_position"
        case .before: "before_build"
        case .after: "in_the_future"
        case .notAdvancing: "not_advancing"
        case .unconfirmedTime: "unconfirmed_time"
        case .jump: "jump"
        case .acceleration: "acceleration"
        }
    }

    package var description: String {
        switch self {
        case .positionOutOfRange: "its position is outside -90...90 or -180...180 degrees"
        case .nullIsland: "its position is exactly 0, 0, which receivers send when they have none"
        case .before(let floor): "its time is before \(floor), when this release was built"
        case .after(let limit): "its time is after \(limit), which is in the future"
        case .notAdvancing: "its time is not after that of the last fix"
        case .unconfirmedTime: "its time is far from what was known before, and no other fix confirms it yet"
        case .acceleration(let rate): "its speed would take an acceleration of \(rate) m/s² since the last fix"
        case .jump(let meters): "it is \(meters) m from the last fix, farther than any vehicle goes in that time"
        }
    }
}
