import HTTPMessages
import LinuxPlatform
import ReportedText

/// The host names under which clients on this machine may address the service.
///
/// DNS rebinding can lead a browser to a loopback address under a name that a foreign page's owner chose; the request
/// then states that name as its host. A request from a foreign page states the page's origin or, for an image or a
/// link, at least that it comes from another site.
struct AllowedHosts: Sendable, Hashable {
    /// The allowed hosts; `nil` on a Unix socket, which no browser can reach.
    private let hosts: Set<String>?

    init(listeningOn address: LocalAddress) {
        switch address {
        case .loopback(let host, _):
            // A name with a final dot is the same name.
            hosts = ["127.0.0.1", "[::1]", "localhost", "localhost.", host.contains(":") ? "[\(host)]" : host]
        case .unix: hosts = nil
        }
    }

    /// Throws if `request` seems to come from a page of another site. HTTP/1.0 may omit the host; no browser does.
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
            // Any page can make the browser prefetch a URL, in a request that doesn't state the page.
            case "sec-purpose", "purpose": throw .foreignSite
            default: break
            }
        }
    }

    private static func reportedText(_ name: String) -> ReportedText { ReportedText(name, limit: 100) }
}

extension Set<String> {
    /// Whether the host of `authority`, which may have a port, is in the set.
    fileprivate func contains(host authority: some StringProtocol) -> Bool {
        let bracket = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let end = bracket.map(authority.index(after:)) ?? authority.firstIndex(of: ":") ?? authority.endIndex
        let port = authority[end...]
        guard port.isEmpty || port.first == ":" && port.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return false }
        return contains(authority[..<end].lowercased())
    }
}
