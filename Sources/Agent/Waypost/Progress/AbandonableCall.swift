import LocationReporting

/// A call that may never return, and that its caller can leave.
///
/// The body runs in a task of its own, outside the structure, for a caller can only leave what it does not own.
struct AbandonableCall<Value: Sendable>: Sendable {
    private let values: AsyncStream<Value>
    private let listener: AsyncStream<Value>.Continuation

    init() { (values, listener) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Runs `body`; `nil` when the call was abandoned, or had not returned after `limit`. The body is cancelled then,
    /// for the case that it hears of that. The caller's cancellation reaches neither the body nor the wait.
    func run(
        within limit: Duration, on clock: MonotonicClock, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let calling = Task { [listener] in
            listener.yield(await body())
            listener.finish()
        }
        let waiting = Task { [values] in
            await withTaskGroup(of: Value?.self) { group in
                group.addTask {
                    for await value in values { return value }
                    return nil
                }
                group.addTask {
                    await clock.sleep(for: limit)
                    return nil
                }
                defer { group.cancelAll() }
                return await group.next() ?? nil
            }
        }
        let value = await waiting.value
        if value == nil { calling.cancel() }
        return value
    }

    /// Runs `body` for as long as it takes. When the caller is cancelled it is too, and abandoned after `patience`.
    static func run(
        stoppedWithin patience: Duration, on clock: MonotonicClock, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let (end, ended) = AsyncStream.makeStream(of: Never.self)
        let calling = Task {
            defer { ended.finish() }
            return await body()
        }
        for await _ in end {}  // until it has ended, or this task is cancelled
        calling.cancel()
        return await Self().run(within: patience, on: clock) { await calling.value }
    }

    /// Frees the caller.
    func abandon() { listener.finish() }
}

/// How long a stop waits for what may hang, so that it ends within the 10 s that the service manager allows.
enum Stopping {
    /// For everything that was cancelled.
    static let patience = Duration.seconds(1)
    /// For the vehicle's last state.
    static let longestFarewell = Duration.seconds(3)
    /// For the disk to take what is still in memory.
    static let longestClosing = Duration.seconds(3)
}
