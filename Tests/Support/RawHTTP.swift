import Glibc
package import LinuxPlatform
import ReportedText

/// A server that writes given bytes, HTTP or not, to each connection after the first bytes of a request.
package final class RawServer: Sendable {
    private let socket: ListeningSocket
    private let stop: EventDescriptor
    private let ended: EventDescriptor
    /// A stream with one element for each request, sent when its first bytes arrive.
    package let requests: AsyncStream<Void>

    /// Creates a server that writes `parts`, waits `pause` before each, and then keeps the connection open until the
    /// client leaves.
    package convenience init(answering parts: [String], pause: Duration = .zero) throws {
        try self.init(answeringBytes: parts.map { Array($0.utf8) }, pause: pause)
    }

    /// Creates the same server for `parts` that needn't be text.
    package init(answeringBytes parts: [[UInt8]], pause: Duration = .zero) throws {
        let (socket, stop, ended) = (
            try ListeningSocket(on: .loopback(host: "127.0.0.1", port: 0)), try EventDescriptor(), try EventDescriptor()
        )
        (self.socket, self.stop, self.ended) = (socket, stop, ended)
        let (requests, announcer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(16))
        self.requests = requests
        startThread(named: "raw-server") {
            while case .ready = (try? poll(socket.raw, within: nil, unless: stop)) ?? .stopped {
                if let connection = try? socket.accept() {
                    Self.serve(connection, parts: parts, pause: pause, stop: stop, announcer: announcer)
                }
            }
            ended.signal()
        }
    }

    deinit {
        stop.signal()
        ended.wait()
    }

    /// The server's address, such as `127.0.0.1:49152`.
    package var authority: String { socket.address.description }

    private static func serve(
        _ connection: borrowing OwnedDescriptor, parts: [[UInt8]], pause: Duration, stop: EventDescriptor,
        announcer: AsyncStream<Void>.Continuation
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

/// An exchange of bytes with a service, without an HTTP client.
package struct RawExchange: Sendable {
    /// The reason why reading ended.
    package enum Ending: Sendable, Hashable { case enough, closed, reset, silent, notConnected }

    package let received: [UInt8]
    package let ending: Ending

    package var text: String { String(decoding: received, as: UTF8.self) }
    /// The first line of an answer.
    package var status: String { String(text.prefix { !$0.isNewline }) }
    /// The body of an answer.
    package var body: String {
        let text = text
        return text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    /// Requests `target` and reads to the end.
    package static func get(_ target: some StringProtocol, from address: LocalAddress) async -> RawExchange {
        await send(["GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], to: address)
    }

    /// Connects, sends the pieces, and reads until the received bytes are enough, the peer ends, or nothing arrives for
    /// 100 seconds.
    package static func send(
        _ pieces: [String], to address: LocalAddress,
        until isEnough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false },
        endsSending: Bool = false
    ) async -> RawExchange {
        await withCheckedContinuation { continuation in
            startThread(named: "raw-exchange") {
                continuation.resume(
                    returning: exchange(pieces, with: address, until: isEnough, endsSending: endsSending))
            }
        }
    }

    private static func exchange(
        _ pieces: [String], with address: LocalAddress, until isEnough: ([UInt8]) -> Bool, endsSending: Bool
    ) -> RawExchange {
        guard let socket = try? connectedSocket(to: address) else {
            return RawExchange(received: [], ending: .notConnected)
        }
        var timeout = timeval(tv_sec: 100, tv_usec: 0)
        _ = unsafe setsockopt(socket.raw, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        for piece in pieces {
            let bytes = Array(piece.utf8)
            _ = unsafe Glibc.send(socket.raw, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        }
        if endsSending { shutdown(socket.raw, CInt(SHUT_WR)) }
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while !isEnough(received) {
            let count = unsafe recv(socket.raw, &chunk, chunk.count, 0)
            if count == 0 { return RawExchange(received: received, ending: .closed) }
            if count < 0 {
                return RawExchange(received: received, ending: errno == ECONNRESET ? .reset : .silent)
            }
            received += chunk[..<count]
        }
        return RawExchange(received: received, ending: .enough)
    }
}
