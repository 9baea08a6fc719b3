/// How long to wait before the next attempt: doubling, capped, with full jitter so that a fleet never retries in step.
///
/// | retry | 1 | 2 | 3 | 4 | 5 | 6 | 7 and on |
/// | --- | --- | --- | --- | --- | --- | --- | --- |
/// | at most, with the defaults of 1 s and 60 s | 1 s | 2 s | 4 s | 8 s | 16 s | 32 s | 60 s |
package struct RetryPolicy: Sendable, Hashable {
    package let initialDelay: Duration
    package let maximumDelay: Duration
    /// An attempt that reaches nobody costs a few packets, and each is a look whether the way is whole again.
    static let longestUnreachableDelay = Duration.seconds(15)
    /// No server is obeyed for longer than this.
    static let longestObeyedDelay = Duration.seconds(600)

    package init(initialDelay: Duration, maximumDelay: Duration) {
        (self.initialDelay, self.maximumDelay) = (initialDelay, maximumDelay)
    }

    /// The longest wait before retry number `retry`; the first is 1.
    package func ceiling(beforeRetry retry: Int) -> Duration {
        min(initialDelay * (1 << min(max(retry, 1) - 1, 30)), maximumDelay)
    }

    /// The wait before retry number `retry`; `jitter` is drawn from 0...1, and `after` is what the server asked for.
    package func delay(beforeRetry retry: Int, jitter: Double, after: Duration? = nil) -> Duration {
        let own = ceiling(beforeRetry: retry) * jitter
        guard let after else { return own }
        // Those who were all told the same time must not come back at the same time.
        return min(after, Self.longestObeyedDelay) + min(own, .seconds(5))
    }

    /// The wait before retry number `retry` when nobody could be reached; `jitter` is drawn from 0...1.
    package func unreachableDelay(beforeRetry retry: Int, jitter: Double) -> Duration {
        min(ceiling(beforeRetry: retry), Self.longestUnreachableDelay) * jitter
    }

    /// The wait between probes of something that only a person can mend.
    package func holdDelay(jitter: Double) -> Duration { maximumDelay / 2 + maximumDelay / 2 * jitter }
}
