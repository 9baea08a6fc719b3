import CSimulatedExecutor

/// A queue that runs the jobs of all tasks and actors on one thread. The seed decides which of the ready jobs is next.
///
/// `@unchecked Sendable` is safe because only the simulation's thread uses the object.
@safe final class RunQueue: SerialExecutor, @unchecked Sendable {
    @unsafe private struct Entry {
        let job: UnownedJob
        /// Whether the job belongs to an actor whose executor is this queue; otherwise it is a job of the thread pool.
        let isActorJob: Bool
    }

    private var entries: [Entry] = unsafe []
    private var head = 0
    private var dice: Dice
    /// The probability that the next job isn't the oldest.
    private let disorder: Double
    /// The number of jobs that have been started.
    private(set) var jobCount = 0
    /// The maximum number of jobs that were ready at once.
    private(set) var maximumLength = 0

    init(seed: UInt64, disorder: Double) {
        dice = Dice(seed: seed, stream: .order)
        self.disorder = disorder
    }

    /// Enqueues a job of an actor whose executor is this queue.
    func enqueue(_ job: consuming ExecutorJob) { unsafe add(Entry(job: UnownedJob(job), isActorJob: true)) }

    /// Makes this queue the executor of all tasks that are started on this thread while `body` runs.
    func run<Result>(_ body: () -> Result) -> Result {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe csimulated_enter(context, addJobToPool)
        defer { csimulated_leave() }
        return body()
    }

    /// Runs the next job. Returns `false` if no job is ready.
    func runNext() -> Bool {
        guard unsafe head < entries.count else { return false }
        if disorder > 0, unsafe entries.count - head > 1, dice.chance(disorder) {
            unsafe entries.swapAt(head, head + dice.below(entries.count - head))
        }
        let entry = unsafe entries[head]
        head += 1
        if unsafe head == entries.count {
            unsafe entries.removeAll(keepingCapacity: true)
            head = 0
        }
        jobCount += 1
        if unsafe entry.isActorJob {
            unsafe entry.job.runSynchronously(on: asUnownedSerialExecutor())
        } else {
            unsafe csimulated_run(unsafeBitCast(entry.job, to: UnsafeMutableRawPointer.self))
        }
        return true
    }

    fileprivate func addToPool(_ job: UnsafeMutableRawPointer) {
        unsafe add(Entry(job: unsafeBitCast(job, to: UnownedJob.self), isActorJob: false))
    }

    @unsafe private func add(_ entry: Entry) {
        unsafe entries.append(entry)
        maximumLength = unsafe max(maximumLength, entries.count - head)
    }
}

private func addJobToPool(_ context: UnsafeMutableRawPointer, _ job: UnsafeMutableRawPointer) {
    unsafe Unmanaged<RunQueue>.fromOpaque(context).takeUnretainedValue().addToPool(job)
}
