import ReportedText

/// A proxy through which connections are made. It is an HTTP or HTTPS proxy, or a SOCKS 5 proxy that resolves host
/// names itself.
///
/// Connections always use a tunnel through the proxy. If the server's URL is `https`, the proxy therefore sees neither
/// requests nor tokens.
package struct HTTPProxy: Sendable, Hashable {
    /// The reason why a string isn't a valid proxy URL.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case notAbsolute
        case unsupportedScheme(String)
        case resolvesNamesLocally
        case userInformation
        case missingPort
        case hasPath
        case invalidHost(HTTPURL.Problem)

        package var description: String {
            switch self {
            case .notAbsolute: "is not an absolute URL; write it as http://HOST:PORT"
            case .unsupportedScheme(let scheme): "has the unsupported scheme \"\(scheme)\"; use http, https or socks5h"
            case .resolvesNamesLocally: "would resolve names on this machine; write socks5h://HOST:PORT"
            case .userInformation:
                "contains a user name or password; set \"user\" and \"password\" instead, with the password in a file"
            case .missingPort: "has no port; write it as http://HOST:PORT"
            case .hasPath: "has a path or a query, but a proxy has neither; write it as http://HOST:PORT"
            case .invalidHost(let problem): "\(problem)"
            }
        }
    }

    package enum Scheme: String, Sendable, Hashable { case http, https, socks5h }

    package let scheme: Scheme
    /// The host in lower case. An IPv6 address has no brackets.
    package let host: String
    package let port: Int
    /// Whether the host is an IP address, which needs no name resolution.
    package let isHostAddress: Bool
    /// The user and password for the proxy; `nil` if none are configured.
    package var login: Login?
    /// The configuration key under which the proxy is set, such as `upload.proxy`. Remedies refer to the setting by
    /// this key.
    package var key = "proxy"

    package struct Login: Sendable, Hashable {
        package let user: String
        package let password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    /// Parses the URL of a proxy, which must not contain a user or password. `login` is set separately.
    package init(_ text: String) throws(Problem) {
        guard let separator = text.firstRange(of: "://") else { throw .notAbsolute }
        let word = text[..<separator.lowerBound].lowercased()
        if word == "socks5" { throw .resolvesNamesLocally }
        guard let scheme = Scheme(rawValue: word) else { throw .unsupportedScheme(word) }
        var authority = text[separator.upperBound...]
        if authority.hasSuffix("/") { authority.removeLast() }
        if authority.contains("@") { throw .userInformation }
        if authority.contains(where: { $0 == "/" || $0 == "?" || $0 == "#" }) { throw .hasPath }
        let url: HTTPURL
        do throws(HTTPURL.Problem) { url = try HTTPURL("https://\(authority)") } catch { throw .invalidHost(error) }
        let port = authority.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
        guard port.utf8.count < authority.utf8.count, port.utf8.allSatisfy(\.isDigit) else { throw .missingPort }
        self.scheme = scheme
        host = url.host
        self.port = url.port
        isHostAddress = url.isHostAddress
    }

    /// The scheme, host and port, such as `http://proxy.example.com:3128`.
    package var origin: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(scheme.rawValue)://\(name):\(port)"
    }

    /// Whether data sent to the proxy stays on this machine.
    package var isLoopback: Bool { HTTPURL.isLoopback(host) }
}
