/// The rule for how long to wait before the next attempt. The delay doubles up to a maximum and has full jitter, so
/// that a fleet never retries in step.
///
/// | retry | 1 | 2 | 3 | 4 | 5 | 6 | 7 and on |
/// | --- | --- | --- | --- | --- | --- | --- | --- |
/// | maximum delay, with the defaults of 1 s and 60 s | 1 s | 2 s | 4 s | 8 s | 16 s | 32 s | 60 s |
///
/// Whatever the jitter, an attempt starts at least a second (or `initialDelay`, if that is less) after the start of a
/// failed attempt. An unstable network thus doesn't cause a burst of requests. Only a changed request is sent at once:
/// a request with a new token, or without the rejected update.
package struct RetryPolicy: Sendable, Hashable {
    package let initialDelay: Duration
    package let maximumDelay: Duration
    /// The maximum time between the starts of two attempts if the first doesn't reach the server. Such an attempt costs
    /// only a few packets, so it may be repeated soon.
    private static let maximumUnreachableDelay = Duration.seconds(15)
    /// The maximum delay that Waypost accepts from a server.
    private static let maximumObeyedDelay = Duration.seconds(600)
    /// The minimum time between the start of a failed attempt and the start of the next.
    private static let minimumSpacing = Duration.seconds(1)

    package init(initialDelay: Duration, maximumDelay: Duration) {
        self.initialDelay = initialDelay
        self.maximumDelay = maximumDelay
    }

    /// Returns the maximum wait before retry number `retry`, counted from 1.
    package func ceiling(beforeRetry retry: Int) -> Duration {
        min(initialDelay * (1 << min(max(retry, 1) - 1, 30)), maximumDelay)
    }

    /// Returns how much longer to wait after an attempt that lasted `took`, so that the next attempt doesn't start too
    /// soon.
    package func spacing(after took: Duration) -> Duration {
        max(.zero, min(Self.minimumSpacing, initialDelay) - took)
    }

    /// Returns a random wait before a retry.
    ///
    /// - Parameters:
    ///   - retry: the number of the retry, counted from 1.
    ///   - jitter: a random number in 0...1.
    ///   - requestedDelay: the delay that the server asked for; `nil` if it asked for none.
    /// - Returns: the wait.
    package func delay(beforeRetry retry: Int, jitter: Double, requestedDelay: Duration? = nil) -> Duration {
        let own = ceiling(beforeRetry: retry) * jitter
        guard let requestedDelay else { return own }
        // Jitter is added because the server may have asked many vehicles for the same delay.
        return min(requestedDelay, Self.maximumObeyedDelay) + min(own, .seconds(5))
    }

    /// Returns the wait before retry number `retry` after an attempt that lasted `took` and did not reach the server.
    /// `jitter` is a random number in 0...1.
    package func unreachableDelay(beforeRetry retry: Int, took: Duration, jitter: Double) -> Duration {
        min(ceiling(beforeRetry: retry) * jitter, max(.zero, Self.maximumUnreachableDelay - took))
    }

    /// Returns the wait between two probes, which find out whether a lasting fault has ended, such as rejected tokens.
    package func holdDelay(jitter: Double) -> Duration { maximumDelay / 2 + maximumDelay / 2 * jitter }

    /// Returns the wait before probe number `number` for something that may be missing for days, such as a vehicle that
    /// hasn't been created: `holdDelay` at first, then up to five times as long.
    package func delay(beforeProbe number: Int, jitter: Double) -> Duration {
        holdDelay(jitter: jitter) * min(1 << min(max(number, 1) - 1, 3), 5)
    }
}
