import CCurl
import HTTPMessages
import ReportedText
import Testing

@testable import CurlTransport

@Suite struct ProxyFailure {
    private static func proxy(_ text: String = "http://p.test:3128", hasLogin: Bool = false) throws -> HTTPProxy {
        var proxy = try HTTPProxy(text)
        proxy.key = "upload.proxy"
        if hasLogin { proxy.login = HTTPProxy.Login(user: "van", password: "hush") }
        return proxy
    }

    @Test(
        arguments: [
            (407, false, .loginRequired, "it requires a user and password; set upload.proxy.user and upload.proxy."),
            (407, true, .loginRejected, "it rejects the user and password; check upload.proxy.user and upload.proxy."),
            (401, true, .loginRejected, "it rejects the user and password; check upload.proxy.user and upload.proxy."),
            (403, true, .serverForbidden, "it doesn't allow example.com:443; allow the server in the proxy's rules"),
            (502, true, .serverUnreachable, "it could not connect to example.com:443; check the proxy's network, and"),
            (405, true, .notAProxy, "it doesn't support tunnels (CONNECT); correct upload.proxy.url"),
            (
                302, true, .intercepted,
                "a captive portal answered in its place; sign in to the portal, or use another network"
            ),
            (
                511, true, .intercepted,
                "a captive portal answered in its place; sign in to the portal, or use another network"
            ),
        ] as [(Int, Bool, HTTPTransportError.ProxyFault, String)])
    func isNamedByTheAnswerOfTheProxy(
        status: Int, hasLogin: Bool, fault: HTTPTransportError.ProxyFault, reason: String
    ) throws {
        let failure = CurlProxyFailure(status: status, of: try Self.proxy(hasLogin: hasLogin), to: "example.com:443")
        #expect(failure?.fault == fault)
        let text = failure.map { "\($0.cause); \($0.remedy)" } ?? ""
        #expect(text.hasPrefix("the proxy http://p.test:3128 answered \(status): \(reason)"), "\(text)")
    }

    @Test func isNotReportedIfTheTunnelWasOpened() throws {
        #expect(CurlProxyFailure(status: 200, of: try Self.proxy(), to: "example.com:443") == nil)
    }

    @Test(
        arguments: [
            (
                CURLE_COULDNT_RESOLVE_PROXY, .unreachable,
                "the name of the proxy http://p.test:3128 could not be resolved"
            ),
            (CURLE_COULDNT_CONNECT, .unreachable, "no connection to the proxy http://p.test:3128: Connection refused"),
            (CURLE_OPERATION_TIMEDOUT, .unreachable, "timeout: no answer from the proxy http://p.test:3128 (words)"),
            (CURLE_PEER_FAILED_VERIFICATION, .unreachable, "the certificate of the proxy http://p.test:3128 is not"),
            (CURLE_SSL_CONNECT_ERROR, .unreachable, "no secure connection to the proxy http://p.test:3128: words"),
            (CURLE_RECV_ERROR, .unreachable, "the proxy http://p.test:3128 closed the connection: words"),
            (CURLE_WEIRD_SERVER_REPLY, .notAProxy, "the server at http://p.test:3128 isn't a proxy: words"),
            (CURLE_PROXY, .refused, "the proxy http://p.test:3128 made no connection: words; check its rules, "),
        ] as [(CURLcode, HTTPTransportError.ProxyFault, String)])
    func isNamedByTheCodeOfLibcurl(curl: CURLcode, fault: HTTPTransportError.ProxyFault, message: String) throws {
        let failure = CurlProxyFailure(curl, of: try Self.proxy(), message: "words", refusal: "Connection refused")
        #expect(failure?.fault == fault)
        let text = failure.map { "\($0.cause); \($0.remedy)" } ?? ""
        #expect(text.hasPrefix(message), "\(text)")
    }

    /// Only libcurl's code shows whether there was a tunnel through a SOCKS proxy.
    @Test func socksFailureIsNamedByTheCodeOfLibcurl() throws {
        let proxy = try Self.proxy("socks5h://p.test:1080")
        for curl in [CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_RECV_ERROR] {
            #expect(CurlProxyFailure(curl, of: proxy, message: "words", refusal: nil) == nil)
        }
        #expect(CurlProxyFailure(CURLE_PROXY, of: proxy, message: "words", refusal: nil)?.fault == .refused)
    }
}
