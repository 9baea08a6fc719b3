import Glibc
import LinuxPlatform

/// A relay for TCP connections, one at a time, that counts their payload, including TLS.
final class ByteRelay: Sendable {
    /// The bytes since the start of the relay.
    struct ByteCounts: Sendable {
        var fromClient = 0
        var fromServer = 0
    }

    let port: UInt16
    private let lockedCounts: Locked<ByteCounts>

    /// Starts to relay connections to `server`, until the end of the process.
    init(to server: LocalAddress) throws {
        let listener = try ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0))
        guard case .loopback(_, let port) = listener.address else { throw BenchmarkError("there is no free port") }
        self.port = port
        let lockedCounts = Locked(ByteCounts())
        self.lockedCounts = lockedCounts
        startThread(named: "byte-relay") {
            while Self.waitUntilReadable([listener.raw]) != nil {
                guard let client = try? listener.accept(), let server = try? connectedSocket(to: server) else {
                    continue
                }
                Self.relay(between: client, and: server, countingIn: lockedCounts)
            }
        }
    }

    var byteCounts: ByteCounts { lockedCounts.withLock { $0 } }

    private static func relay(
        between client: borrowing OwnedDescriptor, and server: borrowing OwnedDescriptor,
        countingIn lockedCounts: Locked<ByteCounts>
    ) {
        while let readable = waitUntilReadable([client.raw, server.raw]) {
            for isFromClient in [true, false] where readable[isFromClient ? 0 : 1] {
                var buffer = [UInt8](repeating: 0, count: 64 * 1024)
                let (source, target) = isFromClient ? (client.raw, server.raw) : (server.raw, client.raw)
                let count = unsafe read(source, &buffer, buffer.count)
                guard count > 0 else { return }
                // The bytes are counted before they are sent, so that the count includes every answer that the client
                // has seen.
                lockedCounts.withLock {
                    if isFromClient { $0.fromClient += count } else { $0.fromServer += count }
                }
                // The bytes fit into a socket's buffer; a short write would be an error of the measurement.
                guard unsafe write(target, buffer, count) == count else { return }
            }
        }
    }

    /// Waits until one of `descriptors` can be read. Returns for each whether it can be read; `nil` if
    /// waiting fails.
    private static func waitUntilReadable(_ descriptors: [CInt]) -> [Bool]? {
        var watched = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while unsafe poll(&watched, nfds_t(watched.count), -1) < 0 { guard errno == EINTR else { return nil } }
        return watched.map { $0.revents != 0 }
    }
}
