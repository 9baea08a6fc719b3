package import LinuxPlatform

/// A TCP proxy on loopback that imitates bad links. It delays, slows, drips, stalls, resets, rejects and swallows bytes
/// as requested, and repeatably.
///
/// One thread holds all sockets, and at most 64 KiB per direction of each connection. The proxy stops when released.
package final class FaultProxy: Sendable {
    /// The traffic so far.
    package struct Counts: Sendable, Hashable {
        package var connections = 0
        package var bytesToServer = 0
        package var bytesToClient = 0
    }

    /// The address for clients.
    package let address: LocalAddress
    private let requests: ProxyRequests
    private let lockedCounts: Locked<Counts>
    private let ended: EventDescriptor

    /// Starts a proxy for `server`. The seed determines the random delays.
    package init(to server: LocalAddress, _ faults: LinkFaults = LinkFaults(), seed: UInt64 = 1) throws {
        let listener = try ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0))
        let requests = try ProxyRequests()
        let lockedCounts = Locked(Counts())
        let ended = try EventDescriptor()
        address = listener.address
        self.requests = requests
        self.lockedCounts = lockedCounts
        self.ended = ended
        startThread(named: "fault-proxy") {
            var loop = ProxyLoop(
                server: server, listener: listener, requests: requests, lockedCounts: lockedCounts, faults: faults,
                seed: seed)
            loop.run()
            ended.signal()
        }
    }

    deinit {
        requests.stop()
        ended.wait()
    }

    package var counts: Counts { lockedCounts.withLock { $0 } }

    /// Applies `faults` to new and established connections. They are in effect when this function returns.
    package func set(_ faults: LinkFaults) async { await requests.submit(faults: faults) }

    /// Resets every established connection.
    package func sever() async { await requests.submit(severs: true) }
}
