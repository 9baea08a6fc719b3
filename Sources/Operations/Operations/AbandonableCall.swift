import LinuxPlatform
package import Reporting

/// A call that may never return. The caller can stop waiting for it, which abandons the call.
///
/// `body` runs in an unstructured task. A structured child task couldn't be abandoned, because its parent always waits
/// for it.
package final class AbandonableCall<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value?, Never>)
        case finished(Value?)
    }

    private let state = Locked(State.pending)

    package init() {}

    /// Runs `body` and returns its result. If `body` hasn't returned within `limit`, or the call is abandoned, cancels
    /// `body` and returns `nil`. Cancelling the caller's task neither cancels `body` nor ends the wait.
    package func run(
        within limit: Duration, on clock: MonotonicClock, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let alarm = Task {
            let end = clock.now + limit
            // A cancelled sleep leaves its timer in memory until the timer fires, so the alarm sleeps for at most one
            // second at a time.
            while clock.now < end, !Task.isCancelled { await clock.sleep(for: min(end - clock.now, .seconds(1))) }
            abandon()
        }
        defer { alarm.cancel() }
        return await run(body)
    }

    /// Runs `body` and returns its result; `nil` if the call is abandoned.
    package func run(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        // The task starts immediately on this thread, so that an update isn't delayed by scheduling.
        let calling = Task.immediate { finish(with: await body()) }
        let value: Value? = await withCheckedContinuation { continuation in
            let before = state.withLock { state in
                defer { if case .pending = state { state = .awaited(continuation) } }
                return state
            }
            if case .finished(let value) = before { continuation.resume(returning: value) }
        }
        if value == nil { calling.cancel() }
        return value
    }

    /// Runs `body` and returns its result. `body` is cancelled if it calls `stop`, or if the caller's task is
    /// cancelled. If it then doesn't return within `limit`, it is abandoned, and the result is `nil`.
    package static func run(
        stoppedWithin limit: Duration, on clock: MonotonicClock,
        _ body: @escaping @Sendable (_ stop: @escaping @Sendable () -> Void) async -> Value
    ) async -> Value? {
        let (stopSignal, continuation) = AsyncStream.makeStream(of: Never.self)
        let calling = Task {
            defer { continuation.finish() }
            return await body { continuation.finish() }
        }
        for await _ in stopSignal {}  // ends when `body` returns or calls `stop`, or when this task is cancelled
        calling.cancel()
        return await Self().run(within: limit, on: clock) { await calling.value }
    }

    /// Abandons the call: the caller continues with `nil` instead of the result of `body`.
    package func abandon() { finish(with: nil) }

    /// Ends the call with the result `value`, unless it has already ended.
    private func finish(with value: Value?) {
        let before = state.withLock { state in
            let before = state
            if case .finished = before { return before }
            state = .finished(value)
            return before
        }
        if case .awaited(let continuation) = before { continuation.resume(returning: value) }
    }
}
