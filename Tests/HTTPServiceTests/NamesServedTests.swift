import HTTPMessages
import LinuxPlatform
import ReportedText
import Testing

@testable import HTTPService

@Suite struct NamesServed {
    private func rejection(
        method: HTTPMethod = .get, host: String?, origins: [String] = [], sites: [String] = [],
        on address: String = "127.0.0.1:9464"
    ) throws -> HTTPRequestError? {
        var headers = HTTPHeaders()
        if let host { headers.append(name: "host", value: host) }
        for origin in origins { headers.append(name: "origin", value: origin) }
        for site in sites { headers.append(name: "sec-fetch-site", value: site) }
        let names = AllowedHosts(listeningOn: try LocalAddress(address))
        do throws(HTTPRequestError) {
            try names.check(ServedRequest(method, "/", headers: headers))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            nil, "127.0.0.1", "127.0.0.1:9464", "127.0.0.1:1", "localhost", "localhost:", "LOCALHOST:80", "localhost.",
            "localhost.:80", "[::1]", "[::1]:65535",
        ] as [String?])
    func areThoseOfThisMachine(host: String?) throws { #expect(try rejection(host: host) == nil) }

    @Test(arguments: [
        "", "evil.example.com", "evil.example.com:9464", "localhost.evil.example.com", "localhost..", "xlocalhost",
        "127.0.0.1.", "127.0.0.2", "127.1", "0.0.0.0", "2130706433", "::1", "[::1", "[::1]x", "[::2]", "::1]:80",
        "localhost:80:80", "localhost:x", "localhost:-1", "user@localhost", "localhost@evil.example.com",
        "localhost, evil.example.com", "localhost/", " ",
    ])
    func excludeOtherNames(host: String) throws {
        #expect(try rejection(host: host) == .misdirected(host: ReportedText(host)))
    }

    @Test(arguments: [("127.1.2.3:0", "127.1.2.3:80"), ("[::1]:0", "[::1]:80"), ("localhost:0", "localhost")])
    func includeTheListenAddress(address: String, host: String) throws {
        #expect(try rejection(host: host, on: address) == nil)
        #expect(try rejection(host: "127.0.0.1", on: address) == nil)
        #expect(try rejection(host: "127.3.2.1", on: address) == .misdirected(host: ReportedText("127.3.2.1")))
    }

    /// Browsers can't connect to a Unix socket, and a proxy in front of it checks its own host names.
    @Test func areNotCheckedOnAUnixSocket() throws {
        let origins = ["https://fleet.example.com"]
        #expect(
            try rejection(
                method: .put, host: "fleet.example.com", origins: origins, sites: ["cross-site"], on: "unix:/run/x")
                == nil)
    }

    @Test(
        arguments: [
            ([], nil), (["http://localhost"], nil), (["https://LOCALHOST:3000"], nil), (["http://[::1]:80"], nil),
            (["http://evil.example.com"], 0), (["null"], 0), ([""], 0), (["localhost"], 0), (["file://"], 0),
            (["http://localhost.evil.example.com"], 0), (["http://localhost", "http://evil.example.com"], 1),
        ] as [([String], Int?)])
    func allowOnlyLocalOrigins(origins: [String], foreignIndex: Int?) throws {
        let error = foreignIndex.map { HTTPRequestError.foreignOrigin(ReportedText(origins[$0])) }
        for method in [HTTPMethod.get, .head, .put, .post, .patch, .delete] {
            #expect(try rejection(method: method, host: "localhost", origins: origins) == error)
        }
    }

    /// `Sec-Fetch-Site` says whether the user typed the address, or which site the requesting page is from.
    @Test(
        arguments: [
            ([], true), (["none"], true), (["same-origin"], true), (["same-site"], true), ([""], true),
            (["cross-site"], false), (["Cross-Site"], false), (["none", "cross-site"], false),
        ])
    func rejectPagesOfOtherSites(sites: [String], isServed: Bool) throws {
        for method in [HTTPMethod.get, .head, .put, .post, .patch, .delete] {
            for origins in [[], ["http://localhost"]] {
                let error = try rejection(method: method, host: "localhost", origins: origins, sites: sites)
                #expect(error == (isServed ? nil : .foreignSite))
            }
        }
    }

    /// A browser prefetches URLs for any page, in requests that don't state the page.
    @Test(arguments: ["sec-purpose", "purpose"], ["prefetch", "prefetch;prerender"])
    func rejectPrefetches(header: String, purpose: String) throws {
        var headers = HTTPHeaders(["host": "localhost", "sec-fetch-site": "none"])
        headers.append(name: header, value: purpose)
        let names = AllowedHosts(listeningOn: try LocalAddress("127.0.0.1:9464"))
        #expect(throws: HTTPRequestError.foreignSite) {
            try names.check(ServedRequest(.get, "/token/driver/van-7", headers: headers))
        }
    }

    @Test func areListedInTheRejectionOfAnotherName() throws {
        let long = String(repeating: "x.", count: 5000)
        let host = try rejection(host: long)
        #expect(host?.status == 421)
        #expect((host?.description.utf8.count).map { 100..<200 ~= $0 } == true)
        #expect(host?.description.hasSuffix("is not served here; use 127.0.0.1, [::1] or localhost") == true)
        let origin = try rejection(method: .put, host: "localhost", origins: [long])
        #expect(origin?.status == 403)
        #expect((origin?.description.utf8.count).map { 100..<200 ~= $0 } == true)
        let site = try rejection(host: "localhost", sites: ["cross-site"])
        #expect(site?.status == 403)
        #expect(site?.description.hasSuffix("enter the address in the browser instead") == true)
    }
}
