import CLinux
import Glibc

/// An executor that runs an actor's jobs one after another on a dedicated thread. Use it for actors whose calls block
/// (SQLite's fsync, file reads). The thread ends after the executor has been released.
package final class ThreadExecutor: SerialExecutor {
    private let queue: JobQueue

    package init(named name: String) {
        let queue = JobQueue()
        self.queue = queue
        startThread(named: name) { queue.run() }
    }

    deinit { queue.stop() }

    package func enqueue(_ job: consuming ExecutorJob) {
        unsafe queue.append(UnownedJob(job), for: asUnownedSerialExecutor())
    }
}

/// The state that the executor shares with its thread. Because the thread refers only to this object, it doesn't keep
/// the executor alive.
///
/// `@unchecked Sendable` is safe because every stored value is accessed only while the mutex is locked.
@safe private final class JobQueue: @unchecked Sendable {
    @unsafe private struct Entry {
        let job: UnownedJob
        let executor: UnownedSerialExecutor
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t> = .allocate(capacity: 1)
    private let filled: UnsafeMutablePointer<pthread_cond_t> = .allocate(capacity: 1)
    private var jobs: [Entry] = unsafe []
    private var isStopped = false

    init() {
        unsafe pthread_mutex_init(mutex, nil)
        unsafe pthread_cond_init(filled, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(filled)
        unsafe pthread_mutex_destroy(mutex)
        unsafe filled.deallocate()
        unsafe mutex.deallocate()
    }

    func append(_ job: UnownedJob, for executor: UnownedSerialExecutor) {
        unsafe pthread_mutex_lock(mutex)
        unsafe jobs.append(Entry(job: job, executor: executor))
        unsafe pthread_mutex_unlock(mutex)
        unsafe pthread_cond_signal(filled)  // after the unlock, so that the woken thread doesn't wait for the mutex
    }

    func stop() {
        unsafe pthread_mutex_lock(mutex)
        isStopped = true
        unsafe pthread_cond_signal(filled)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// Runs jobs until the queue has been stopped and is empty.
    func run() {
        while true {
            unsafe pthread_mutex_lock(mutex)
            while unsafe jobs.isEmpty, !isStopped { unsafe pthread_cond_wait(filled, mutex) }
            let due = unsafe jobs
            unsafe jobs.removeAll(keepingCapacity: true)
            unsafe pthread_mutex_unlock(mutex)
            if unsafe due.isEmpty { return }
            for index in unsafe due.indices { unsafe due[index].job.runSynchronously(on: due[index].executor) }
        }
    }
}

/// Starts a thread for calls that block. On the shared pool, such calls would keep other tasks from running.
///
/// If the system has no room for another thread, tries again for five seconds. Then ends the process with a message.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    for attempt in 0... {
        do throws(SystemError) { return try startThreadIfPossible(named: name, body) } catch {
            guard attempt < 50, error.number == EAGAIN else {
                FatalExit.exit(
                    "thread \(name) cannot be started: \(error.reason); raise the limits of memory and processes "
                        + "(ulimit -v, -d and -u, TasksMax=)")
            }
        }
        _ = poll(nil, 0, 100)
    }
}

/// Starts a thread for a call that the caller can also postpone or make on its own thread.
///
/// - Throws: an error if the system has no room for another thread, without trying again.
package func startThreadIfPossible(named name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let context = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
    var thread = pthread_t()
    let code = unsafe pthread_create(&thread, nil, runThreadBody, context.toOpaque())
    guard code == 0 else {
        unsafe context.release()
        throw SystemError(call: "start thread \(name)", number: code)
    }
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let body = unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
    unsafe clinux_set_thread_name(pthread_self(), String(body.name.prefix(15)))  // the kernel's limit for a name
    body.run()
    return nil
}

/// Runs `body`, which may block, on a dedicated thread. Returns its result.
///
/// Cancelling the task doesn't stop `body`. If `body` can take long, the caller needs another way to stop it.
package func onThread<Value: Sendable>(
    named name: String, _ body: @escaping @Sendable () -> Value
) async -> Value {
    await withCheckedContinuation { continuation in
        startThread(named: name) { continuation.resume(returning: body()) }
    }
}

/// Runs `body` on a dedicated thread, and returns its result. Then runs `afterwards` on the same thread. Fails, without
/// trying again, if the system has no room for another thread.
package func onThreadIfPossible<Value: Sendable>(
    named name: String, _ body: @escaping @Sendable () -> Value, afterwards: @escaping @Sendable () -> Void = {}
) async -> Result<Value, SystemError> {
    await withCheckedContinuation { continuation in
        do throws(SystemError) {
            try startThreadIfPossible(named: name) {
                continuation.resume(returning: .success(body()))
                afterwards()
            }
        } catch {
            continuation.resume(returning: .failure(error))
        }
    }
}
