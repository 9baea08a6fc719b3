import LinuxPlatform

/// Requests from tests to the proxy's thread.
final class ProxyRequests: Sendable {
    /// The requests that the thread hasn't collected.
    struct Pending {
        var faults: LinkFaults?
        var severs = false
        var isStopped = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let pending = Locked(Pending())
    private let wakeUp: EventDescriptor

    init() throws(SystemError) { wakeUp = try EventDescriptor() }

    /// A descriptor for `poll`, readable while there are requests.
    var pollDescriptor: CInt { wakeUp.raw }

    func stop() {
        pending.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    /// Adds a request and waits until it has been carried out.
    func submit(faults: LinkFaults? = nil, severs: Bool = false) async {
        await withCheckedContinuation { waiter in
            pending.withLock { pending in
                if let faults { pending.faults = faults }
                if severs { pending.severs = true }
                pending.waiters.append(waiter)
            }
            wakeUp.signal()
        }
    }

    /// Returns and removes all requests. Called by the thread.
    func collect() -> Pending {
        wakeUp.clear()
        return pending.withLock { pending in
            defer { pending = Pending(isStopped: pending.isStopped) }
            return pending
        }
    }
}
