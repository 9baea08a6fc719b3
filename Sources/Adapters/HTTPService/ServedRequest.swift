package import HTTPMessages
import LinuxPlatform
import ReportedText

/// A complete request that a client sent.
package struct ServedRequest: Sendable, Hashable {
    package var method: HTTPMethod
    /// Path and query as they stand in the request line; begins with `/`.
    package var target: String
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// Whether the client wants to use the connection again.
    package var keepsAlive: Bool
    /// What the request took on the wire, head and framing included.
    package var byteCount: Int

    package init(
        _ method: HTTPMethod, _ target: String, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [],
        keepsAlive: Bool = true, byteCount: Int = 0
    ) {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
        (self.keepsAlive, self.byteCount) = (keepsAlive, byteCount)
    }

    /// The target up to its query, still percent-encoded.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The path's parts without their percent-encoding; `nil` when that is malformed.
    ///
    /// Split before decoding, so that `%2F` inside a part does not divide it.
    package var pathSegments: [String]? {
        decodedParts(path.dropFirst().split(separator: "/", omittingEmptySubsequences: false))
    }

    /// The query's `name=value` pairs without their percent-encoding, in order; `nil` when that is malformed.
    package var queryItems: [(name: String, value: String)]? {
        guard let mark = target.firstIndex(of: "?") else { return [] }
        var items: [(name: String, value: String)] = []
        for pair in target[target.index(after: mark)...].split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let decoded = decodedParts(halves) else { return nil }
            items.append((decoded[0], decoded.count > 1 ? decoded[1] : ""))
        }
        return items
    }

    private func decodedParts(_ parts: [Substring]) -> [String]? {
        var decoded: [String] = []
        for part in parts {
            guard let text = percentDecoded(part) else { return nil }
            decoded.append(text)
        }
        return decoded
    }
}

/// `text` with its `%XX` resolved; `nil` when a percent sign stands alone or the bytes are not UTF-8.
private func percentDecoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        guard let high = rest.popFirst().flatMap(hexadecimalDigit), let low = rest.popFirst().flatMap(hexadecimalDigit)
        else { return nil }
        bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
}

/// The value of a hexadecimal digit.
func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// The names by which a service of this machine may be asked.
///
/// A browser can be led to a loopback address by a name that its page's owner chose (DNS rebinding), and then states
/// that name as the host. Of what a page has it ask for elsewhere it states the page's origin, or at least, as for an
/// image or a link, that this is another site.
struct ServedNames: Sendable, Hashable {
    /// `nil` where no browser comes: a Unix socket.
    private let hosts: Set<String>?

    init(listeningOn address: LocalAddress) {
        switch address {
        case .loopback(let host, _):
            // With a dot at its end a name is the same name.
            hosts = ["127.0.0.1", "[::1]", "localhost", "localhost.", host.contains(":") ? "[\(host)]" : host]
        case .unix: hosts = nil
        }
    }

    /// Throws when somebody else's page seems to have sent `request`. HTTP/1.0 may leave the host out; no browser does.
    func check(_ request: ServedRequest) throws(HTTPRequestError) {
        guard let hosts else { return }
        if let host = request.headers["Host"], !hosts.contains(host: host) {
            throw .misdirected(host: Self.shown(host))
        }
        for field in request.headers.fields {
            switch field.name.lowercased() {
            case "origin":
                let schemes = ["http://", "https://"]
                guard let scheme = schemes.first(where: field.value.hasPrefix),
                    hosts.contains(host: field.value.dropFirst(scheme.count))
                else { throw .foreignOrigin(Self.shown(field.value)) }
            case "sec-fetch-site" where field.value.lowercased() == "cross-site": throw .foreignSite
            // Prefetched for any page, and then said to come from none.
            case "sec-purpose", "purpose": throw .foreignSite
            default: break
            }
        }
    }

    private static func shown(_ name: String) -> ReportedText { ReportedText(name, limit: 100) }
}

extension Set<String> {
    /// Whether the host of `authority`, which may have a port, is among these.
    fileprivate func contains(host authority: some StringProtocol) -> Bool {
        let bracket = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let end = bracket.map(authority.index(after:)) ?? authority.firstIndex(of: ":") ?? authority.endIndex
        let port = authority[end...]
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return false }
        return contains(authority[..<end].lowercased())
    }
}
