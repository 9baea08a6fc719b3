import Conditions
import ReportedText
import Testing

/// The reason and the remedy for each failure of a proxy.
@Suite struct ProxyWording {
    @Test(arguments: [
        (407, false, "it requires a user and password; set upload.proxy.user and upload.proxy.password"),
        (401, false, "it requires a user and password; set upload.proxy.user and upload.proxy.password"),
        (407, true, "it rejects the user and password; check upload.proxy.user and upload.proxy.password"),
        (401, true, "it rejects the user and password; check upload.proxy.user and upload.proxy.password"),
        (403, true, "it doesn't allow example.com:443; allow the server in the proxy's rules"),
        (502, true, "it could not connect to example.com:443; check the proxy's network, and its log"),
        (405, true, "it doesn't support tunnels (CONNECT); correct upload.proxy.url"),
        (302, true, "probably a captive portal, not the proxy; sign in to the portal, or use another network"),
        (511, true, "probably a captive portal, not the proxy; sign in to the portal, or use another network"),
    ])
    func followsFromAStatus(status: Int, hasLogin: Bool, reason: String) {
        #expect(
            Self.sentence(.answered(status: status), hasLogin: hasLogin)
                == "the proxy http://p.test:3128 answered \(status): \(reason)")
    }

    @Test(
        arguments: [
            (
                .answered(status: 418),
                "the proxy http://p.test:3128 answered 418 for example.com:443; check the proxy's log"
            ),
            (
                .nameNotResolved,
                "the name of the proxy http://p.test:3128 could not be resolved; check upload.proxy.url, and that the "
                    + "proxy is running"
            ),
            (
                .notConnected,
                "no connection to the proxy http://p.test:3128: words; check upload.proxy.url, and that the proxy is running"
            ),
            (
                .timedOut,
                "timeout: no answer through the proxy http://p.test:3128 (words); check upload.proxy.url, and that the "
                    + "proxy is running and can reach example.com:443"
            ),
            (
                .untrustedCertificate,
                "the certificate of the proxy http://p.test:3128 is not trusted: words; if its certificate authority is "
                    + "your own, set caFile next to upload.proxy; otherwise, correct upload.proxy.url"
            ),
            (
                .tlsFailed,
                "no secure connection to the proxy http://p.test:3128: words; if it has no TLS, write http:// in "
                    + "upload.proxy.url"
            ),
            (
                .certificateRequested,
                "the proxy http://p.test:3128 requested a client certificate, and then ended the connection; use a proxy that "
                    + "requires no client certificate, or correct upload.proxy.url"
            ),
            (
                .connectionLost,
                "the proxy http://p.test:3128 closed the connection; check upload.proxy.url, and that the proxy is "
                    + "running"
            ),
            (.notAProxy, "the server at http://p.test:3128 isn't a proxy: words; correct upload.proxy.url"),
            (
                .rejected,
                "the proxy http://p.test:3128 rejected the connection: words; check its rules, upload.proxy.user and "
                    + "upload.proxy.password"
            ),
        ] as [(ProxyFault.Cause, String)])
    func followsFromACause(cause: ProxyFault.Cause, sentence: String) {
        #expect(Self.sentence(cause) == sentence)
    }

    private static func sentence(_ cause: ProxyFault.Cause, hasLogin: Bool = true) -> String {
        ProxyFault(
            cause, origin: "http://p.test:3128", key: "upload.proxy", hasLogin: hasLogin, server: "example.com:443"
        ).wording("words").sentence.description
    }
}
