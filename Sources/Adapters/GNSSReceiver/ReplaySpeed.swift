/// How fast a recorded log is replayed.
package enum ReplaySpeed: Sendable, Hashable {
    /// So many times as fast as it was recorded; above zero.
    case times(Double)
    /// As fast as its fixes are taken.
    case maximum

    /// Seconds of replay for one second of log.
    var stretch: Double {
        switch self {
        case .times(let factor): 1 / factor
        case .maximum: 0
        }
    }
}
