/// How long to wait before the next attempt: doubling, capped, with full jitter so that a fleet never retries in step.
///
/// | retry | 1 | 2 | 3 | 4 | 5 | 6 | 7 and on |
/// | --- | --- | --- | --- | --- | --- | --- | --- |
/// | at most, with the defaults of 1 s and 60 s | 1 s | 2 s | 4 s | 8 s | 16 s | 32 s | 60 s |
///
/// Whatever the jitter, an attempt after one that failed begins no sooner than a second (or `initialDelay`, if that is
/// less) after that began, so that no network that flaps makes a storm. Sent again at once is only what is another
/// request: with a new token, or without the update that was rejected.
package struct RetryPolicy: Sendable, Hashable {
    package let initialDelay: Duration
    package let maximumDelay: Duration
    /// The server is unreachable: that long after the start of the last attempt the next one checks again. It costs a
    /// few packets.
    private static let longestUnreachableDelay = Duration.seconds(15)
    /// No server is obeyed for longer than this.
    private static let longestObeyedDelay = Duration.seconds(600)
    /// The least time from one failed attempt to the next, from start to start.
    private static let shortestSpacing = Duration.seconds(1)

    package init(initialDelay: Duration, maximumDelay: Duration) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// The longest wait before retry number `retry`; the first is 1.
    package func ceiling(beforeRetry retry: Int) -> Duration {
        min(initialDelay * (1 << min(max(retry, 1) - 1, 30)), maximumDelay)
    }

    /// What is left of the least time between attempts when the last one `took` so long.
    package func spacing(after took: Duration) -> Duration {
        max(.zero, min(Self.shortestSpacing, initialDelay) - took)
    }

    /// The wait before retry number `retry`; `jitter` is drawn from 0...1, and `after` is what the server asked for.
    package func delay(beforeRetry retry: Int, jitter: Double, after: Duration? = nil) -> Duration {
        let own = ceiling(beforeRetry: retry) * jitter
        guard let after else { return own }
        // Vehicles that were all given the same time must not retry at the same time.
        return min(after, Self.longestObeyedDelay) + min(own, .seconds(5))
    }

    /// The wait before retry number `retry` after an attempt that `took` so long and did not reach the server; `jitter`
    /// is drawn from 0...1.
    package func unreachableDelay(beforeRetry retry: Int, took: Duration, jitter: Double) -> Duration {
        min(ceiling(beforeRetry: retry) * jitter, max(.zero, Self.longestUnreachableDelay - took))
    }

    /// The wait between probes of a token that is rejected, or of a reader's hold.
    package func holdDelay(jitter: Double) -> Duration { maximumDelay / 2 + maximumDelay / 2 * jitter }

    /// The wait before probe number `probe` of something that is not there and may not be for days: as on a hold first,
    /// then longer, up to five times that.
    package func absenceDelay(beforeProbe probe: Int, jitter: Double) -> Duration {
        holdDelay(jitter: jitter) * min(1 << min(max(probe, 1) - 1, 3), 5)
    }
}
