/// A wrapper around any clock. It offers only the elapsed time and a way to sleep.
package struct MonotonicClock: Sendable {
    private let elapsedTime: @Sendable () -> Duration
    private let sleepUntil: @Sendable (Duration) async throws -> Void

    package init<Base: Clock>(_ clock: Base) where Base.Duration == Duration {
        let start = clock.now
        elapsedTime = { start.duration(to: clock.now) }
        sleepUntil = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// The time since this value was created.
    package var now: Duration { elapsedTime() }

    /// Sleeps for `duration`. Returns early if the task is cancelled, so the caller must check `Task.isCancelled`.
    package func sleep(for duration: Duration) async { await sleep(until: now + duration) }

    /// Sleeps until `now` is `moment`. Returns early if the task is cancelled.
    package func sleep(until moment: Duration) async {
        do { try await sleepUntil(moment) } catch {}  // a sleep only fails if cancelled
    }
}
