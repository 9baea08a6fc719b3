/// The time that an exchange may stay unanswered while a newer position waits. After that, the exchange is aborted.
///
/// Waypost can't know whether a silent server is slow or its connection is dead. The timeout is therefore short at
/// first and doubles after each abort, up to the time limit for an exchange. A dead connection is thus abandoned within
/// seconds, but a slow answer still arrives. After a delivery the timeout is twice the time that the delivery took. A
/// server that is always slow thus receives every update only once.
struct NewerPositionTimeout: Sendable, Hashable {
    private static let initial = Duration.seconds(3)

    private let maximum: Duration
    private(set) var duration: Duration

    /// - Parameter maximum: the time limit for an exchange.
    init(maximum: Duration) {
        self.maximum = maximum
        duration = min(Self.initial, maximum)
    }

    /// Records that an exchange was aborted because a newer position was waiting.
    mutating func didAbort() { duration = min(duration * 2, maximum) }

    /// Records that an exchange was answered after `time`.
    mutating func didDeliver(after time: Duration) { duration = min(max(Self.initial, time * 2), maximum) }

    /// Returns to the initial timeout, because the network path may have changed.
    mutating func reset() { duration = min(Self.initial, maximum) }
}
