import LinuxPlatform

/// A gate at which tasks wait until it is opened, or they are cancelled.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Locked(State())
    private let announcer: AsyncStream<Void>.Continuation
    /// A stream with one element for each task that arrives at the gate.
    package let arrivals: AsyncStream<Void>

    package init() { (arrivals, announcer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4096)) }

    /// Waits at the gate. Returns false if the task was cancelled before the gate was opened.
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

/// An executor that runs its tasks one after another on the calling thread, so that a test knows when all of them wait,
/// and every run is the same.
package final class StepExecutor: TaskExecutor {
    private let jobs = Locked([UnownedJob]())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs jobs until every task waits.
    package func runUntilAllWait() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// Yields to other tasks and threads until `condition` holds or the test is cancelled. Waiting longer would occupy a
/// thread that later tests need.
package func yieldTurns(until condition: () async throws -> Bool) async rethrows {
    while try await !condition(), !Task.isCancelled { await Task.yield() }
}
