import Reporting
import Testing

@Suite struct RetryPolicies {
    static let policy = RetryPolicy(initialDelay: .seconds(1), maximumDelay: .seconds(60))

    @Test(arguments: [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32), (7, 60), (8, 60), (1_000_000, 60), (0, 1)])
    func doubleTheDelayUpToTheMaximum(retry: Int, seconds: Int) {
        #expect(Self.policy.ceiling(beforeRetry: retry) == .seconds(seconds))
        #expect(Self.policy.delay(beforeRetry: retry, jitter: 1) == .seconds(seconds))
        #expect(Self.policy.delay(beforeRetry: retry, jitter: 0) == .zero)
    }

    @Test(arguments: [(1, 0.0, 30.0, 30.0), (1, 1, 30, 31), (9, 1, 30, 35), (1, 0, 86_400, 600), (1, 0.5, 0, 0.5)])
    func obeyTheDelayOfTheServerUpToALimit(retry: Int, jitter: Double, after: Double, seconds: Double) {
        #expect(
            Self.policy.delay(beforeRetry: retry, jitter: jitter, requestedDelay: .seconds(after)) == .seconds(seconds))
    }

    @Test(arguments: [(0.0, 30.0), (0.5, 45), (1, 60)]) func probeSlowlyOnHold(jitter: Double, seconds: Double) {
        #expect(Self.policy.holdDelay(jitter: jitter) == .seconds(seconds))
    }
}
