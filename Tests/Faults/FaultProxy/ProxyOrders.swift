import LinuxPlatform

/// The orders of tests to the proxy's thread. A test leaves an order, wakes the thread, and waits until it is carried
/// out.
final class ProxyOrders: Sendable {
    /// The orders that the thread has not collected.
    struct Pending {
        var faults: LinkFaults?
        var severs = false
        var isStopped = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let pending = Locked(Pending())
    private let wakeUp: EventDescriptor

    init() throws(SystemError) { wakeUp = try EventDescriptor() }

    /// A descriptor for `poll`, readable while there are orders.
    var raw: CInt { wakeUp.raw }

    func stop() {
        pending.withLock { $0.isStopped = true }
        wakeUp.signal()
    }

    func order(faults: LinkFaults? = nil, severs: Bool = false) async {
        await withCheckedContinuation { waiter in
            pending.withLock { pending in
                if let faults { pending.faults = faults }
                if severs { pending.severs = true }
                pending.waiters.append(waiter)
            }
            wakeUp.signal()
        }
    }

    /// Returns and removes all orders. For the thread.
    func collect() -> Pending {
        wakeUp.clear()
        return pending.withLock { pending in
            defer { pending = Pending(isStopped: pending.isStopped) }
            return pending
        }
    }
}
