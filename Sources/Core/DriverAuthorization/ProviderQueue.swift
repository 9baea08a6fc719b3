import Foundation

/// Runs an actor's jobs one after another on a thread that may block: what a provider does there holds up nobody else.
final class ProviderQueue: SerialExecutor {
    private let queue = OperationQueue()

    init() {
        queue.name = "waypost-provider"
        queue.maxConcurrentOperationCount = 1
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
