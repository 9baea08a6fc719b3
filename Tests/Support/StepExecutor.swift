import LinuxPlatform

/// Runs the tasks that prefer it one after another, on the thread that asks it to: so a test knows when all of them
/// wait, and every run is the same.
package final class StepExecutor: TaskExecutor {
    private let jobs = Locked([UnownedJob]())

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs until every task waits.
    package func runUntilAllWait() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
