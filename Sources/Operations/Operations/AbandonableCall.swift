import LinuxPlatform
package import Reporting

/// A call that may never return, and that its caller can abandon.
///
/// The body runs in an unstructured task, because a caller can only abandon a task that isn't its child.
package final class AbandonableCall<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let state = Locked(State.pending)

    package init() {}

    /// Runs `body`. If the call is abandoned or hasn't returned after `limit`, cancels the body and returns `nil`.
    /// Cancelling the caller affects neither the body nor the wait.
    package func run(
        within limit: Duration, on clock: MonotonicClock, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let alarm = Task {
            let end = clock.now + limit
            // The alarm sleeps in steps of a second, because an abandoned timer lives until it fires.
            while clock.now < end, !Task.isCancelled { await clock.sleep(for: min(end - clock.now, .seconds(1))) }
            abandon()
        }
        defer { alarm.cancel() }
        return await run(body)
    }

    /// Runs `body` until it ends or is abandoned.
    package func run(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        // The task starts at once on this thread, so that an update doesn't wait for it to start.
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

    /// Runs `body` until it ends. The body is cancelled when the caller is cancelled or the body calls `stop`. It is
    /// abandoned, and the result is `nil`, if it hasn't ended `limit` later.
    package static func run(
        stoppedWithin limit: Duration, on clock: MonotonicClock,
        _ body: @escaping @Sendable (_ stop: @escaping @Sendable () -> Void) async -> Value
    ) async -> Value? {
        let (end, ended) = AsyncStream.makeStream(of: Never.self)
        let calling = Task {
            defer { ended.finish() }
            return await body { ended.finish() }
        }
        for await _ in end {}  // until the body ends or calls `stop`, or this task is cancelled
        calling.cancel()
        return await Self().run(within: limit, on: clock) { await calling.value }
    }

    /// Ends the caller's wait without the body's result.
    package func abandon() { end(with: nil) }

    /// Ends the call, unless it has already ended.
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
