import LinuxPlatform
package import Reporting

/// A call that may never return, and that its caller can leave.
///
/// The body runs in a task of its own, outside the structure, for a caller can only leave what it does not own.
package final class AbandonableCall<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let state = Locked(State.pending)

    package init() {}

    /// Runs `body`; `nil` when the call was abandoned, or had not returned after `limit`. The body is cancelled then,
    /// for the case that it hears of that. The caller's cancellation reaches neither the body nor the wait.
    package func run(
        within limit: Duration, on clock: MonotonicClock, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let alarm = Task {
            let end = clock.now + limit
            // By the second: a timer that is no longer waited for is kept until its time.
            while clock.now < end, !Task.isCancelled { await clock.sleep(for: min(end - clock.now, .seconds(1))) }
            abandon()
        }
        defer { alarm.cancel() }
        return await run(body)
    }

    /// The same until somebody abandons it.
    package func run(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        // At once and on this thread, as far as it comes: an update on its way waits for no other task to begin.
        let calling = Task.immediate { end(with: await body()) }
        let value: Value? = await withCheckedContinuation { continuation in
            let before = state.withLock { state in
                defer { if case .pending = state { state = .awaited(continuation) } }
                return state
            }
            if case .over(let value) = before { continuation.resume(returning: value) }
        }
        if value == nil { calling.cancel() }
        return value
    }

    /// Runs `body` until it ends. It is cancelled when the caller is, or when it calls the closure that it is given.
    /// `patience` later it is abandoned.
    package static func run(
        stoppedWithin patience: Duration, on clock: MonotonicClock,
        _ body: @escaping @Sendable (_ stop: @escaping @Sendable () -> Void) async -> Value
    ) async -> Value? {
        let (end, ended) = AsyncStream.makeStream(of: Never.self)
        let calling = Task {
            defer { ended.finish() }
            return await body { ended.finish() }
        }
        for await _ in end {}  // until it has ended or is stopped, or this task is cancelled
        calling.cancel()
        return await Self().run(within: patience, on: clock) { await calling.value }
    }

    /// Frees the caller.
    package func abandon() { end(with: nil) }

    /// What comes first counts.
    private func end(with value: Value?) {
        let before = state.withLock { state in
            let before = state
            if case .over = before { return before }
            state = .over(value)
            return before
        }
        if case .awaited(let continuation) = before { continuation.resume(returning: value) }
    }
}
