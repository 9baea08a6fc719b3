import LinuxPlatform

/// How the tasks that handle requests reach the thread that owns the sockets.
final class ServiceMailbox: Sendable {
    struct Letters: Sendable {
        var answers: [(connection: Int, response: ServedResponse)] = []
        var isStopped = false
    }

    private let letters = Locked(Letters())
    private let wakeUp: EventDescriptor

    init() throws(SystemError) { wakeUp = try EventDescriptor() }

    /// For `poll`: readable when there are letters.
    var raw: CInt { wakeUp.raw }

    func answer(_ response: ServedResponse, on connection: Int) {
        letters.withLock { $0.answers.append((connection, response)) }
        wakeUp.signal()
    }

    func stop() {
        letters.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    /// Everything since the last time.
    func collect() -> Letters {
        wakeUp.clear()
        return letters.withLock { letters in
            defer { letters.answers = [] }
            return letters
        }
    }
}
