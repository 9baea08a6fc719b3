/// Any clock, reduced to what the core needs: how much time has passed, and sleep.
package struct MonotonicClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let sleeper: @Sendable (Duration) async throws -> Void

    package init<Base: Clock>(_ clock: Base) where Base.Duration == Duration {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleeper = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// Time since this value was made.
    package var now: Duration { elapsed() }

    /// Sleeps; ends early when the task is cancelled, which the caller sees by `Task.isCancelled`.
    package func sleep(for duration: Duration) async { await sleep(until: now + duration) }

    /// Sleeps until so much time has passed; the same otherwise.
    package func sleep(until moment: Duration) async {
        do { try await sleeper(moment) } catch {}  // a sleep fails only by cancellation
    }
}
