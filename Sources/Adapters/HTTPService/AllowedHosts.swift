import HTTPMessages
import LinuxPlatform
import ReportedText

/// The names by which a service of this machine may be asked.
///
/// A browser can be led to a loopback address by a name that its page's owner chose (DNS rebinding), and then states
/// that name as the host. Of what a page has it ask for elsewhere it states the page's origin, or at least, as for an
/// image or a link, that this is another site.
struct AllowedHosts: Sendable, Hashable {
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

    /// Throws when a page of another site seems to have sent `request`. HTTP/1.0 may omit the host; no browser does.
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
