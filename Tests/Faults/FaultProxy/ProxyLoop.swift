import Glibc
import LinuxPlatform
import TimeAndRandomness

/// The sockets of one proxy, all on one thread.
struct ProxyLoop {
    private let server: LocalAddress
    private let address: LocalAddress
    private var listener: ListeningSocket?
    private let requests: ProxyRequests
    private let lockedCounts: Locked<FaultProxy.Counts>
    private var faults: LinkFaults
    private var chance: SplitMix64
    private var connections: [ProxiedConnection] = []
    private var buffer = [UInt8](repeating: 0, count: 16_384)
    private let start = ContinuousClock.now

    init(
        server: LocalAddress, listener: ListeningSocket, requests: ProxyRequests,
        lockedCounts: Locked<FaultProxy.Counts>,
        faults: LinkFaults, seed: UInt64
    ) {
        self.server = server
        self.listener = listener
        self.requests = requests
        self.lockedCounts = lockedCounts
        address = listener.address
        self.faults = faults
        chance = SplitMix64(seed: seed)
    }

    private var now: Duration { start.duration(to: .now) }

    /// Runs until stopped, then closes every socket.
    mutating func run() {
        while true {
            let pending = requests.collect()
            if let faults = pending.faults { self.faults = faults }
            if pending.severs {
                for connection in connections { connection.reset() }
                connections = []
            }
            if faults.reception == .refusing || pending.isStopped {
                listener?.close()
                listener = nil
            } else if listener == nil {
                listener = try? ListeningSocket(on: address)  // retried in the next iteration
            }
            for waiter in pending.waiters { waiter.resume() }
            if pending.isStopped { return }
            waitAndPass()
            connections.removeAll(where: \.isOver)
        }
    }

    private mutating func waitAndPass() {
        var polled = [
            pollfd(fd: requests.pollDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: listener?.raw ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        let watched = connections
        for connection in watched {
            for side in [connection.client, connection.server] {
                guard let side else { continue }
                let reads = !side.hasEnded && side.lane.room > 0
                let events = (reads ? POLLIN : 0) | (side.isFull ? POLLOUT : 0)
                polled.append(pollfd(fd: side.socket.raw, events: Int16(events), revents: 0))
            }
        }
        guard unsafe poll(&polled, nfds_t(polled.count), timeout) >= 0 else { return }  // interrupted by a signal
        if polled[1].revents != 0 { accept() }
        var entries = polled.dropFirst(2)
        for connection in watched {
            for side in [connection.client, connection.server] {
                guard let side, let entry = entries.popFirst() else { continue }
                serve(side, of: connection, events: Int32(entry.revents))
            }
            if faults.reception == .swallowing { continue }
            let passed = connection.pass(at: now, faults)
            lockedCounts.withLock { counts in
                counts.bytesToServer += passed.toServer
                counts.bytesToClient += passed.toClient
            }
        }
    }

    private mutating func serve(_ side: ProxySide, of connection: ProxiedConnection, events: Int32) {
        guard !connection.isOver, events != 0 else { return }
        if events & POLLIN != 0, !side.hasEnded {
            let lane = side === connection.client ? faults.toServer : faults.toClient
            connection.read(
                from: side, into: &buffer, at: now, delay: chance.delay(within: lane.delay),
                isSwallowed: faults.reception == .swallowing || connection.server == nil)
        } else if events & (POLLHUP | POLLERR | POLLNVAL) != 0 {
            connection.reset()
        }
    }

    /// The time until bytes may pass, in milliseconds for `poll`; -1 waits forever.
    private var timeout: CInt {
        if listener == nil, faults.reception != .refusing { return 10 }
        guard faults.reception != .swallowing, let next = connections.compactMap({ $0.nextPass(faults) }).min() else {
            return -1
        }
        return CInt(max(0, min(((next - now) / .milliseconds(1)).rounded(.up), 3_600_000)))
    }

    private mutating func accept() {
        guard let client = try? listener?.accept() else { return }
        lockedCounts.withLock { $0.connections += 1 }
        if faults.reception == .swallowing {
            connections.append(ProxiedConnection(client: client, server: nil))
        } else if let server = try? connectedSocket(to: server) {
            connections.append(ProxiedConnection(client: client, server: server))
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func delay(within range: ClosedRange<Duration>) -> Duration {
        range.lowerBound + (range.upperBound - range.lowerBound) * unit()
    }
}
