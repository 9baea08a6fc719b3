import LinuxPlatform

/// How tests reach the proxy's thread: they leave an order, wake it, and wait until it is carried out.
final class ProxyOrders: Sendable {
    /// What is left for the thread.
    struct Letters {
        var faults: LinkFaults?
        var severs = false
        var isStopped = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let letters = Locked(Letters())
    private let wakeUp: EventDescriptor

    init() throws(SystemError) { wakeUp = try EventDescriptor() }

    /// For `poll`: readable while there are letters.
    var raw: CInt { wakeUp.raw }

    func stop() {
        letters.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    func order(faults: LinkFaults? = nil, severs: Bool = false) async {
        await withCheckedContinuation { waiter in
            letters.withLock { letters in
                if let faults { letters.faults = faults }
                if severs { letters.severs = true }
                letters.waiters.append(waiter)
            }
            wakeUp.signal()
        }
    }

    /// Everything left since the last call; for the thread.
    func collect() -> Letters {
        wakeUp.clear()
        return letters.withLock { letters in
            defer { letters = Letters(isStopped: letters.isStopped) }
            return letters
        }
    }
}
