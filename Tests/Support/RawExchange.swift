import Glibc
package import LinuxPlatform

/// Bytes to a service and what came back, without any HTTP client in between.
package struct RawExchange: Sendable {
    /// How the reading ended.
    package enum Ending: Sendable, Hashable { case enough, closed, reset, silent, notConnected }

    package let received: [UInt8]
    package let ending: Ending

    package var text: String { String(decoding: received, as: UTF8.self) }
    /// The first line of an answer.
    package var status: String { String(text.prefix { !$0.isNewline }) }
    /// What comes after the head of an answer.
    package var body: String {
        let text = text
        return text.firstRange(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
    }

    /// Asks for `target` and reads to the end.
    package static func get(_ target: some StringProtocol, from address: LocalAddress) async -> RawExchange {
        await send(["GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"], to: address)
    }

    /// Connects, sends the pieces, and reads until there is `enough`, the peer ends, or nothing comes for 10 seconds.
    package static func send(
        _ pieces: [String], to address: LocalAddress, enough: @escaping @Sendable ([UInt8]) -> Bool = { _ in false },
        endsSending: Bool = false
    ) async -> RawExchange {
        await withCheckedContinuation { continuation in
            startThread(named: "raw-exchange") {
                continuation.resume(returning: exchange(pieces, address, enough, endsSending))
            }
        }
    }

    private static func exchange(
        _ pieces: [String], _ address: LocalAddress, _ enough: ([UInt8]) -> Bool, _ endsSending: Bool
    ) -> RawExchange {
        guard let socket = try? connectedSocket(to: address) else {
            return RawExchange(received: [], ending: .notConnected)
        }
        var patience = timeval(tv_sec: 10, tv_usec: 0)
        _ = unsafe setsockopt(socket.raw, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        for piece in pieces {
            let bytes = Array(piece.utf8)
            _ = unsafe Glibc.send(socket.raw, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        }
        if endsSending { shutdown(socket.raw, CInt(SHUT_WR)) }
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while !enough(received) {
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
