import HTTPMessages
import LinuxPlatform
import ReportedText

/// The names that a request may state as its host. Other hosts are rejected, so that foreign web pages can't use the
/// service through a browser.
///
/// With DNS rebinding, the owner of a foreign page can make a name resolve to a loopback address. A browser then sends
/// requests to the service, but states that name as their host. Other requests from a foreign page state the page's
/// origin. For an image or a link, they state at least that they come from another site.
struct AllowedHosts: Sendable, Hashable {
    /// The allowed hosts; `nil` if the service listens on a Unix socket, because no browser can reach it.
    private let hosts: Set<String>?

    init(listeningOn address: LocalAddress) {
        switch address {
        case .loopback(let host, _):
            // A final dot doesn't change the meaning of a host name.
            hosts = ["127.0.0.1", "[::1]", "localhost", "localhost.", host.contains(":") ? "[\(host)]" : host]
        case .unix: hosts = nil
        }
    }

    /// Throws if `request` seems to come from a page of another site. A request without a host is accepted, because
    /// HTTP/1.0 clients may omit it and browsers never do.
    func check(_ request: ServedRequest) throws(HTTPRequestError) {
        guard let hosts else { return }
        if let host = request.headers["Host"], !hosts.contains(host: host) {
            throw .misdirected(host: Self.reportedText(host))
        }
        for field in request.headers.fields {
            switch field.name.lowercased() {
            case "origin":
                let schemes = ["http://", "https://"]
                guard let scheme = schemes.first(where: field.value.hasPrefix),
                    hosts.contains(host: field.value.dropFirst(scheme.count))
                else { throw .foreignOrigin(Self.reportedText(field.value)) }
            case "sec-fetch-site" where field.value.lowercased() == "cross-site": throw .foreignSite
            // Any page can make the browser prefetch a URL, and such a request doesn't state which page caused it.
            case "sec-purpose", "purpose": throw .foreignSite
            default: break
            }
        }
    }

    private static func reportedText(_ name: String) -> ReportedText { ReportedText(name, limit: 100) }
}

extension Set<String> {
    /// Whether the set contains the host of `authority`, which may be followed by a port.
    fileprivate func contains(host authority: some StringProtocol) -> Bool {
        let bracket = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let end = bracket.map(authority.index(after:)) ?? authority.firstIndex(of: ":") ?? authority.endIndex
        let port = authority[end...]
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return false }
        return contains(authority[..<end].lowercased())
    }
}
