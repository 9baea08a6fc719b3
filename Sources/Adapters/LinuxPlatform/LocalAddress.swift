import CLinux
import Glibc

/// An address that only this machine can reach: a loopback host and port, or a Unix socket.
///
/// A value of this type is the proof; there is no way to name a public address to `ListeningSocket`.
package enum LocalAddress: Sendable, Hashable, CustomStringConvertible {
    /// `host` is a numeric loopback address, or `localhost`; port 0 takes a free one.
    case loopback(host: String, port: UInt16)
    case unix(path: String)

    /// Why a text is not such an address; what it says goes behind the text.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case malformed(String)
        case invalidPort(String)
        case notLoopback(host: String)
        case pathTooLong(String)

        package var description: String {
            switch self {
            case .malformed: "is not an address; write 127.0.0.1:PORT, [::1]:PORT or unix:/PATH"
            case .invalidPort(let port): "has the port \"\(port)\"; use 0 to 65535 (0 takes a free one)"
            case .notLoopback(let host):
                "would let other machines reach \(host); use 127.0.0.1, ::1, localhost or unix:/PATH"
            case .pathTooLong: "is too long for a Unix socket; use at most 107 bytes"
            }
        }
    }

    /// Reads `HOST:PORT`, `[::1]:PORT`, or `unix:/PATH`.
    package init(_ text: String) throws(Problem) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard path.hasPrefix("/") else { throw .malformed(text) }
            guard path.utf8.count <= 107 else { throw .pathTooLong(path) }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":") else { throw .malformed(text) }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw .malformed(text)  // an IPv6 address needs its brackets
        }
        let port = text[text.index(after: colon)...]
        guard !host.isEmpty, !port.isEmpty else { throw .malformed(text) }
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port) else {
            throw .invalidPort(String(port))
        }
        self = .loopback(host: host, port: number)
        guard socketAddress != nil else { throw .notLoopback(host: host) }
    }

    package var description: String {
        switch self {
        case .loopback(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// The kernel's form; `nil` when the host is not a loopback address or the path does not fit.
    var socketAddress: SocketAddress? {
        switch self {
        case .loopback(let host, let port):
            SocketAddress(loopbackHost: host == "localhost" ? "127.0.0.1" : host, port: port)
        case .unix(let path): SocketAddress(path: path)
        }
    }
}
