import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

/// Returns the calling thread's kernel ID, as shown in `/proc`.
private func currentThreadID() -> Int32 {
    var bytes = [CChar](repeating: 0, count: 64)
    let count = unsafe readlink("/proc/thread-self", &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return text.split(separator: "/").last.flatMap { Int32($0) } ?? -1
}

@Suite struct Threads {
    @Test func cutTheirNameToTheLimitOfTheKernel() async {
        let name = Locked("")
        await onThread(named: "a-name-longer-than-fifteen") {
            let text = commandName(ofProcess: currentThreadID())
            name.withLock { $0 = text ?? "" }
        }
        #expect(name.withLock { $0 } == "a-name-longer-t")
    }

    @Test func runToTheirEndIfTheTaskIsCancelled() async {
        let hasEnded = Locked(false)
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            await onThread(named: "stubborn") { hasEnded.withLock { $0 = true } }
        }
        await task.value
        #expect(hasEnded.withLock { $0 })
    }
}

/// An actor whose jobs run on a dedicated thread.
private actor Worker {
    private let executor = ThreadExecutor(named: "worker")
    private var order: [Int] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    func work(_ number: Int) -> Int32 {
        order.append(number)
        return currentThreadID()
    }

    var jobsDone: Int { order.count }
}

@Suite(.timeLimit(.minutes(1))) struct ExecutorThread {
    @Test func runsEveryJobOnOneThreadOutsideThePool() async {
        let worker = Worker()
        let threads = await withTaskGroup(of: Int32.self) { group in
            for number in 0..<200 { group.addTask { await worker.work(number) } }
            return await group.reduce(into: Set<Int32>()) { $0.insert($1) }
        }
        #expect(threads.count == 1)
        #expect(await worker.jobsDone == 200)
        #expect(threads.first.flatMap(commandName(ofProcess:)) == "worker")
    }

    @Test func endsWithItsActor() async {
        var thread: Int32 = 0
        do {
            let worker = Worker()
            thread = await worker.work(1)
        }
        await yieldTurns { commandName(ofProcess: thread) != "worker" }
        #expect(commandName(ofProcess: thread) != "worker")
    }
}
