import Glibc
import LinuxPlatform

/// A server that writes whatever a test wants, HTTP or not, to each connection after the first bytes of a request.
package final class RawServer: Sendable {
    private let socket: ListeningSocket
    private let stop: EventDescriptor
    private let ended: EventDescriptor
    /// Announces the first bytes of each request.
    package let requests: AsyncStream<Void>

    /// Writes `parts`, waiting `pause` before each, then keeps the connection open until the client leaves.
    package convenience init(answering parts: [String], pause: Duration = .zero) throws {
        try self.init(answeringBytes: parts.map { Array($0.utf8) }, pause: pause)
    }

    /// The same with bytes that need be no text.
    package init(answeringBytes parts: [[UInt8]], pause: Duration = .zero) throws {
        let (socket, stop, ended) = (
            try ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0)), try EventDescriptor(), try EventDescriptor()
        )
        (self.socket, self.stop, self.ended) = (socket, stop, ended)
        let (requests, announcer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(16))
        self.requests = requests
        startThread(named: "raw-server") {
            while case .ready = (try? poll(socket.raw, within: nil, unless: stop)) ?? .stopped {
                if let connection = try? socket.accept() { Self.serve(connection, parts, pause, stop, announcer) }
            }
            ended.signal()
        }
    }

    deinit {
        stop.signal()
        ended.wait()
    }

    /// Where it listens, as `127.0.0.1:49152`.
    package var authority: String { socket.address.description }

    private static func serve(
        _ connection: borrowing OwnedDescriptor, _ parts: [[UInt8]], _ pause: Duration, _ stop: EventDescriptor,
        _ announcer: AsyncStream<Void>.Continuation
    ) {
        guard case .ready = try? poll(connection.raw, within: nil, unless: stop) else { return }
        var request = [UInt8](repeating: 0, count: 65_536)
        var span = request.mutableSpan
        guard (try? connection.read(into: &span)) ?? 0 > 0 else { return }
        announcer.yield()
        for part in parts {
            if pause > .zero, (try? poll(nil, within: pause, unless: stop)) == .stopped { return }
            guard send(connection, part) else { return }
        }
        _ = try? poll(connection.raw, within: nil, unless: stop)
    }

    private static func send(_ connection: borrowing OwnedDescriptor, _ bytes: [UInt8]) -> Bool {
        unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(connection.raw, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
            == bytes.count
    }
}
