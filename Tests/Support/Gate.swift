import LinuxPlatform

/// Holds tasks until it is opened, or they are cancelled.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Locked(State())
    private let announcer: AsyncStream<Void>.Continuation
    /// Announces each task that comes to the gate.
    package let arrivals: AsyncStream<Void>

    package init() { (arrivals, announcer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4096)) }

    /// Waits; false when the task was cancelled before the gate was opened.
    package func pass() async -> Bool {
        let (opening, waiter) = AsyncStream.makeStream(of: Never.self)
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiters.append(waiter) }
            return state.isOpen
        }
        announcer.yield()
        if isOpen { return true }
        for await _ in opening {}
        return state.withLock { $0.isOpen }
    }

    package func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }
}
