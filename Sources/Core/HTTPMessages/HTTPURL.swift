import ReportedText

/// An absolute `https` URL, or an `http` URL of this machine's loopback interface.
///
/// Transports accept URLs only in this type, so everything that they send is encrypted or stays on this machine.
package struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a string isn't an acceptable URL.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case notAbsolute
        case unsupportedScheme(String)
        case missingHost
        case invalidHost(String)
        case userInformation
        case invalidPort(String)
        case invalidCharacter(UInt8)
        case surroundingSpace
        case unencrypted(host: String)

        package var description: String {
            switch self {
            case .notAbsolute: "is not an absolute URL; begin it with https://, or with http:// for a loopback host"
            case .unsupportedScheme(let scheme):
                "has the unsupported scheme \"\(scheme)\"; use https, or http for a loopback host"
            case .missingHost: "has no host; write it as https://HOST/PATH"
            case .invalidHost(let host):
                "has the invalid host \"\(host)\"; write it in ASCII, without spaces or % (an internationalised name begins with xn--)"
            case .invalidPort(""): "has a colon without a port after its host; write it as https://HOST/PATH"
            case .userInformation:
                "contains a user name or password; send credentials in a header that is read from a file"
            case .invalidPort(let port): "has the invalid port \"\(port)\"; use 1 to 65535"
            case .invalidCharacter(UInt8(ascii: "<")):
                "contains <, which usually marks a placeholder; fill it in, or percent-encode it as %3C"
            case .invalidCharacter(let byte):
                "contains \(byte == 0x20 ? "a space" : "the byte 0x" + String(byte, radix: 16)); write it percent-encoded, as "
                    + "%\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
            case .surroundingSpace: "begins or ends with a space; remove it"
            case .unencrypted(let host):
                "would send to \(host) unencrypted; use https (http is for loopback hosts only)"
            }
        }
    }

    package enum Scheme: String, Sendable, Hashable { case http, https }

    package let scheme: Scheme
    /// The host in lower case. An IPv6 address has no brackets.
    package let host: String
    package let port: Int
    /// The path and the query, in the form of the request line; `/` if the URL has neither.
    package private(set) var target: String
    /// The scheme, host and port. Logs may show them even if the path contains secrets.
    package let origin: String

    package init(_ text: String) throws(Problem) {
        if text.first?.isWhitespace == true || text.last?.isWhitespace == true { throw .surroundingSpace }
        if let byte = Self.firstForbiddenByte(in: text) {
            if let host = Self.host(in: text), host.utf8.contains(byte) { throw .invalidHost(host) }
            throw .invalidCharacter(byte)
        }
        guard let separator = text.firstRange(of: "://") else { throw .notAbsolute }
        let schemeText = text[..<separator.lowerBound].lowercased()
        guard let scheme = Scheme(rawValue: schemeText) else { throw .unsupportedScheme(schemeText) }
        let rest = text[separator.upperBound...]
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        guard !authority.contains("@") else { throw .userInformation }

        let hostText: Substring
        let portText: Substring?
        if authority.hasPrefix("["), let close = authority.firstIndex(of: "]") {
            hostText = authority[authority.index(after: authority.startIndex)..<close]
            let tail = authority[authority.index(after: close)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { throw .invalidPort(String(tail)) }
            portText = tail.isEmpty ? nil : tail.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            hostText = authority[..<colon]
            portText = authority[authority.index(after: colon)...]
        } else {
            hostText = authority
            portText = nil
        }
        guard !hostText.isEmpty else { throw .missingHost }
        // Percent-encoding isn't allowed in the host.
        guard !hostText.contains("%") else { throw .invalidHost(String(hostText)) }

        if let portText {
            guard portText.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let port = Int(portText), (1...65535).contains(port)
            else { throw .invalidPort(String(portText)) }
            self.port = port
        } else {
            port = scheme == .https ? 443 : 80
        }
        self.scheme = scheme
        host = hostText.lowercased()
        origin = Self.origin(scheme: scheme, host: host, port: port)
        let fragment = rest.firstIndex(of: "#") ?? rest.endIndex
        let path = rest[authorityEnd..<max(authorityEnd, fragment)]
        target = path.hasPrefix("/") ? String(path) : "/" + path
        guard scheme == .https || Self.isLoopback(host) else { throw .unencrypted(host: host) }
    }

    /// Returns the host of a URL that contains a forbidden byte. If that byte is in the host, percent-encoding can't
    /// repair the URL, and the error must say so. The host ends at a placeholder such as `<HOST>`. Returns `nil` if the
    /// host contains control characters.
    private static func host(in text: String) -> String? {
        guard let separator = text.firstRange(of: "://") else { return nil }
        let host = text[separator.upperBound...].prefix { !"/?#:<\"".contains($0) }
        return host.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ? String(host) : nil
    }

    /// Whether packets to `host` stay on this machine. They do for `localhost`, for an address of 127.0.0.0/8 in four
    /// parts, and for `::1`.
    package static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether the host is an IP address, which needs no name resolution.
    package var isHostAddress: Bool {
        host.utf8.contains(UInt8(ascii: ":")) || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || $0.isDigit }
    }

    /// Returns this URL with `suffix` appended to its path. `suffix` starts with `/` and is already percent-encoded.
    package func appending(target suffix: String) throws(Problem) -> HTTPURL {
        if let byte = Self.firstForbiddenByte(in: suffix) { throw .invalidCharacter(byte) }
        var longer = self
        longer.target = (target.hasSuffix("/") ? String(target.dropLast()) : target) + suffix
        return longer
    }

    private static func origin(scheme: Scheme, host: String, port: Int) -> String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let standard = scheme == .https ? 443 : 80
        return port == standard ? "\(scheme.rawValue)://\(name)" : "\(scheme.rawValue)://\(name):\(port)"
    }

    /// Returns the first byte that a URL may contain only if it is percent-encoded; `nil` if there is none.
    private static func firstForbiddenByte(in text: String) -> UInt8? {
        text.utf8.first { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "<") }
    }

    package var description: String { origin + target }

    /// Returns `text` with percent-encoding for every byte that isn't an unreserved character of RFC 3986. The result
    /// is safe in any part of a URL.
    package static func percentEncoded(_ text: String) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            bytes += isUnreserved(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool { byte.isAlphanumeric || "-._~".utf8.contains(byte) }
}
