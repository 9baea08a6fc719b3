import LinuxPlatform

/// A clock that moves only when the test says so.
package final class ManualClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        var offset: Duration = .zero
        package func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
        package func duration(to other: Self) -> Duration { other.offset - offset }
        package static func < (lhs: Self, rhs: Self) -> Bool { lhs.offset < rhs.offset }
    }

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let wake: AsyncStream<Never>.Continuation
    }

    private struct State {
        var now = Instant()
        var nextID = 0
        var sleepers: [Sleeper] = []
        var isOver = false
    }

    private let state = Locked(State())
    private let announcer: AsyncStream<Duration>.Continuation
    /// The length of every sleep, sent when the sleep begins.
    package let sleeps: AsyncStream<Duration>

    package init() { (sleeps, announcer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4096)) }

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let (wakeUp, wake) = AsyncStream.makeStream(of: Never.self)
        let (id, length) = state.withLock { state in
            state.nextID += 1
            state.sleepers.append(Sleeper(id: state.nextID, deadline: deadline, wake: wake))
            return (state.nextID, state.now.duration(to: deadline))
        }
        defer { state.withLock { $0.sleepers.removeAll { $0.id == id } } }
        announcer.yield(length)
        advance(by: .zero)  // wakes this sleeper at once if its deadline has passed
        for await _ in wakeUp {}  // ends when woken, or when the task is cancelled
        try Task.checkCancellation()
    }

    /// Advances the time and wakes all sleepers that are due.
    package func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let isDue = { [isOver = state.isOver] (sleeper: Sleeper) in isOver || sleeper.deadline <= now }
            let due = state.sleepers.filter(isDue)
            state.sleepers.removeAll(where: isDue)
            return due
        }
        for sleeper in due { sleeper.wake.finish() }
    }

    /// Ends every sleep, including later ones, because a test can't wait for a task that may or may not sleep.
    package func end() {
        state.withLock { $0.isOver = true }
        advance(by: .zero)
    }

    /// The time until the next sleeper is due; `nil` if there are no sleepers.
    package var timeToNextWake: Duration? {
        state.withLock { state in state.sleepers.map(\.deadline).min().map { state.now.duration(to: $0) } }
    }

    /// The number of sleeps that have begun.
    package var sleepCount: Int { state.withLock { $0.nextID } }

    /// The number of sleeping tasks.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }
}
