/// How long a newer position waits for the answer to the exchange in progress, which is aborted then. Pure.
///
/// It can't be known whether a silent server is slow or its connection dead. So the patience is short at first and
/// doubles after each abort, up to the limit for an answer: a dead connection is left within seconds, and a slow answer
/// arrives in the end. After a delivery the patience is twice the time that it took, so that a server that is
/// always slow gets every update once.
struct UploadPatience: Sendable, Hashable {
    private static let initial = Duration.seconds(3)

    private let maximum: Duration
    private(set) var duration: Duration

    /// - Parameter maximum: the time limit of an exchange.
    init(maximum: Duration) {
        self.maximum = maximum
        duration = min(Self.initial, maximum)
    }

    /// An exchange was aborted for a newer position.
    mutating func aborted() { duration = min(duration * 2, maximum) }

    /// An exchange was answered after `time`.
    mutating func delivered(after time: Duration) { duration = min(max(Self.initial, time * 2), maximum) }

    /// The network path may be another one.
    mutating func startAgain() { duration = min(Self.initial, maximum) }
}
