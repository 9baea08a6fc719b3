/// Time that passes faster than it does: what a recording is played in.
package struct ScaledClock: Clock {
    package struct Instant: InstantProtocol {
        var offset: Duration

        package func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
        package func duration(to other: Self) -> Duration { other.offset - offset }
        package static func < (one: Self, other: Self) -> Bool { one.offset < other.offset }
    }

    private let start = ContinuousClock.now
    private let factor: Double

    /// `factor` seconds pass in each.
    package init(factor: Double) { self.factor = factor }

    package var now: Instant { Instant(offset: start.duration(to: .now) * factor) }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: start.advanced(by: deadline.offset / factor), tolerance: nil)
    }
}
