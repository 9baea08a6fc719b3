import LinuxPlatform
import LocationReporting

/// A call that may never return, and whose caller can be freed of it.
///
/// The body runs in a task of its own, outside the structure, for a caller can only leave what it does not own.
/// Cancellation reaches it, and a cancelled caller waits for it no longer than `Stopping.patience`: whatever hangs, the
/// service can be stopped.
final class AbandonableCall<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let clock: MonotonicClock
    private let state = Locked(State.pending)
    private let task = Locked<Task<Void, Never>?>(nil)

    init(clock: MonotonicClock) { self.clock = clock }

    /// Runs `body` for `limit` at most; `nil` when the call was abandoned before it returned.
    func run(within limit: Duration, _ body: @escaping @Sendable () async -> Value) async -> Value? {
        let alarm = abandon(after: limit)
        defer { alarm.cancel() }
        return await run(body)
    }

    /// Runs `body`; `nil` when the call was abandoned before it returned.
    func run(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        let task = Task { self.settle(await body()) }
        self.task.withLock { $0 = task }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let value: Value?? = state.withLock { state in
                    if case .over(let value) = state { return .some(value) }
                    state = .awaited(continuation)
                    return .none
                }
                if case .some(let value) = value { continuation.resume(returning: value) }
            }
        } onCancel: {
            task.cancel()
            _ = abandon(after: Stopping.patience)
        }
    }

    private func abandon(after delay: Duration) -> Task<Void, Never> {
        Task {
            await clock.sleep(for: delay)
            abandon()
        }
    }

    /// Frees the caller, and cancels the body for the case that it hears of that.
    func abandon() {
        settle(nil)
        task.withLock { $0 }?.cancel()
    }

    /// The first word counts.
    private func settle(_ value: Value?) {
        let continuation: CheckedContinuation<Value?, Never>? = state.withLock { state in
            switch state {
            case .over: return nil
            case .pending:
                state = .over(value)
                return nil
            case .awaited(let continuation):
                state = .over(value)
                return continuation
            }
        }
        continuation?.resume(returning: value)
    }
}
