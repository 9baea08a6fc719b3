package import LinuxPlatform

/// A TCP proxy on loopback that does to connections what bad links do: it delays, slows, drips, stalls, resets, refuses
/// and swallows, as ordered and repeatably.
///
/// One thread holds all sockets, and no more than 64 KiB a direction of each connection. It ends with the value.
package final class FaultProxy: Sendable {
    /// What has come through so far.
    package struct Counts: Sendable, Hashable {
        package var connections = 0
        package var bytesToServer = 0
        package var bytesToClient = 0
    }

    /// Where clients connect.
    package let address: LocalAddress
    private let orders: ProxyOrders
    private let counted: Locked<Counts>
    private let ended: EventDescriptor

    /// Stands before `server`; `seed` decides what is drawn.
    package init(to server: LocalAddress, _ faults: LinkFaults = LinkFaults(), seed: UInt64 = 1) throws {
        let listener = try ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0))
        let (orders, counted, ended) = (try ProxyOrders(), Locked(Counts()), try EventDescriptor())
        (address, self.orders, self.counted, self.ended) = (listener.address, orders, counted, ended)
        startThread(named: "fault-proxy") {
            var loop = ProxyLoop(
                server: server, listener: listener, orders: orders, counted: counted, faults: faults, seed: seed)
            loop.run()
            ended.signal()
        }
    }

    deinit {
        orders.stop()
        ended.wait()
    }

    package var counts: Counts { counted.withLock { $0 } }

    /// From now on the link does this, to connections that stand too; in force when it returns.
    package func set(_ faults: LinkFaults) async { await orders.order(faults: faults) }

    /// Resets every connection that stands.
    package func sever() async { await orders.order(severs: true) }
}
