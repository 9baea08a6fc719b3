import HTTPMessages

/// A loopback address and a port to listen on, as `127.0.0.1:9464` or `[::1]:9464`.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// Why a text is no such address.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case notHostAndPort
        case notLoopback(String)

        package var description: String {
            switch self {
            case .notHostAndPort: "is not HOST:PORT; write it as 127.0.0.1:9464"
            case .notLoopback(let host):
                "would listen on \(host), which others can reach; use 127.0.0.1, localhost or [::1]"
            }
        }
    }

    package let host: String
    /// 0 lets the kernel choose.
    package let port: Int

    package init(_ text: String) throws(Problem) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65535).contains(port)
        else { throw .notHostAndPort }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw .notHostAndPort }
        guard HTTPURL.isLoopback(String(host)) else { throw .notLoopback(String(host)) }
        (self.host, self.port) = (String(host), port)
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
