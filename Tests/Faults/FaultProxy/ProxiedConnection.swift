import Glibc
import LinuxPlatform

/// A client's connection, the connection to the server, and the bytes between them.
final class ProxiedConnection {
    let client: ProxySide
    /// The server's side; `nil` if the connection is swallowed.
    let server: ProxySide?
    /// Whether the connection is finished. The sockets are closed when this object is released.
    private(set) var isOver = false

    init(client: consuming OwnedDescriptor, server: consuming OwnedDescriptor?) {
        self.client = ProxySide(client)
        if let server { self.server = ProxySide(server) } else { self.server = nil }
    }

    /// Ends the connection with a reset to both sides.
    func reset() {
        resetOnClose(client.socket.raw)
        if let server { resetOnClose(server.socket.raw) }
        isOver = true
    }

    /// Reads as many bytes from `side` as there is room for. Bytes of a swallowed connection are dropped.
    func read(
        from side: ProxySide, into buffer: inout [UInt8], at now: Duration, delay: Duration, isSwallowed: Bool
    ) {
        let count = unsafe recv(side.socket.raw, &buffer, min(buffer.count, side.lane.room), CInt(MSG_DONTWAIT))
        if count > 0 {
            if !isSwallowed { side.lane.accept(ArraySlice(Array(buffer[..<count])), at: now, delay: delay) }
        } else if count == 0 {
            side.hasEnded = true
            if isSwallowed { isOver = true }
        } else if errno != EAGAIN, errno != EINTR {
            reset()
        }
    }

    /// Passes on the bytes that may pass at `now`. Returns their number in each direction.
    func pass(at now: Duration, _ faults: LinkFaults) -> (toServer: Int, toClient: Int) {
        guard let server else { return (0, 0) }
        let counts = (
            pass(from: client, to: server, at: now, faults.toServer),
            pass(from: server, to: client, at: now, faults.toClient)
        )
        if client.isEndForwarded, server.isEndForwarded { isOver = true }
        return counts
    }

    private func pass(from: ProxySide, to: ProxySide, at now: Duration, _ faults: LaneFaults) -> Int {
        var passed = 0
        to.isFull = false
        while !isOver, !to.isFull {
            let bytes = from.lane.readyBytes(at: now, faults)
            if bytes.isEmpty { break }
            let count = unsafe bytes.withUnsafeBytes {
                unsafe send(to.socket.raw, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            if count > 0 {
                from.lane.recordPassed(count, at: now, faults)
                passed += count
            } else if errno == EAGAIN {
                to.isFull = true
            } else if errno != EINTR {
                reset()
            }
        }
        if from.lane.isAtEnd(faults) { end(with: faults.ending, from: from) }
        if from.hasEnded, from.lane.isEmpty, !from.isEndForwarded {
            shutdown(to.socket.raw, CInt(SHUT_WR))
            from.isEndForwarded = true
        }
        return passed
    }

    private func end(with ending: LaneFaults.Ending, from side: ProxySide) {
        side.lane.drop()
        switch ending {
        case .stall: break
        case .reset: reset()
        case .close:
            for side in [client, server] {
                if let side { shutdown(side.socket.raw, CInt(SHUT_WR)) }
            }
        }
    }

    /// Returns the time when more bytes may pass to a socket that has room; `nil` if none may pass.
    func nextPass(_ faults: LinkFaults) -> Duration? {
        guard let server else { return nil }
        let times = [
            server.isFull ? nil : client.lane.nextPass(faults.toServer),
            client.isFull ? nil : server.lane.nextPass(faults.toClient),
        ]
        return times.compactMap { $0 }.min()
    }
}
