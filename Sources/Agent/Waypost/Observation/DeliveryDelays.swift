/// How long live positions take from the arrival of their fix to Fleet Engine's acknowledgement, counted since the
/// start. What goes out behind them would drown them: a backlog, and shape points, which wait for their update.
package struct DeliveryDelays: Sendable, Hashable, Codable {
    /// Upper ends in seconds, but for the last of `counts`.
    package static let bounds = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400]

    /// Deliveries by delay: within each of `bounds` and above the one before; the last counts those above all.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// Of all delays together.
    package private(set) var sumMilliseconds: Int64 = 0

    package init() {}

    /// Counts one; a clock that was set back makes no delay negative.
    package mutating func add(_ delay: Duration) {
        let delay = max(.zero, delay)
        counts[Self.bounds.firstIndex { delay <= .seconds($0) } ?? Self.bounds.count] += 1
        sumMilliseconds += Int64(delay / .milliseconds(1))
    }
}
