import CurlTransport
import HTTPMessages
import HTTPService
import LinuxPlatform
import ReportedText
import Testing
import WaypostTestSupport

/// Exchanges through real proxies.
@Suite(
    .enabled(if: NginxServer.isAvailable && ProxyServer.areAvailable, "nginx, tinyproxy, microsocks, socat are needed"),
    .timeLimit(.minutes(1)), .serialized)
struct ProxiedExchange {
    /// Returns a transport that uses the proxy at `port` and trusts the authorities in `caFile`.
    private func makeTransport(
        through kind: ProxyServer.Kind, port: Int, caFile: String? = nil, password: String? = ProxyServer.password
    ) throws -> CurlTransport {
        var proxy =
            switch kind {
            case .http: try HTTPProxy("http://127.0.0.1:\(port)")
            case .https: try HTTPProxy("https://localhost:\(port)")
            case .socks5h: try HTTPProxy("socks5h://127.0.0.1:\(port)")
            }
        proxy.key = "upload.proxy"
        proxy.login = password.map { HTTPProxy.Login(user: ProxyServer.user, password: $0) }
        var options = CurlTransportOptions(userAgent: "waypost/test", caFile: caFile)
        options.proxy = proxy
        return try CurlTransport(options: options)
    }

    private func answerText(over transport: CurlTransport, of url: String) async throws -> String {
        String(decoding: try await transport.send(HTTPRequest(.get, try HTTPURL(url))).body, as: UTF8.self)
    }

    /// Runs `body` with the address of a local server that answers `ok`.
    private func serve(_ body: (_ url: String) async throws -> Void) async throws {
        try await Loopback.serve { _ in
            ServedResponse(status: 200, contentType: "text/plain", "ok")
        } during: { url in
            try await body(url)
        }
    }

    /// Returns the error of a request that must fail.
    private func failure(over transport: CurlTransport, of url: String) async throws -> HTTPTransportError {
        try #require(
            await #expect(throws: HTTPTransportError.self) {
                _ = try await transport.send(HTTPRequest(.get, try HTTPURL(url)))
            })
    }

    @Test(arguments: [ProxyServer.Kind.http, .socks5h])
    func usesTLSToTheServerThroughTheProxy(kind: ProxyServer.Kind) async throws {
        // microsocks connects only to the first address of a name, which is ::1 on some machines.
        let server = try await NginxServer(host: "localhost")
        let proxy = try await ProxyServer(kind)
        let transport = try makeTransport(through: kind, port: proxy.port, caFile: server.caFile)
        #expect(
            try await answerText(over: transport, of: "https://localhost:\(server.port)/protocol") == "HTTP/2.0 TLSv1.3"
        )
        let connection = try await answerText(over: transport, of: "https://localhost:\(server.port)/connection")
        let next = try await answerText(over: transport, of: "https://localhost:\(server.port)/connection")
        #expect(connection.split(separator: " ").first == next.split(separator: " ").first, "a tunnel is kept")
        // A server's wrong certificate is distinguished from a proxy's.
        let error = try await failure(over: transport, of: "https://localhost:\(server.foreignPort)/")
        #expect(error.code == .certificateNotTrusted && error.proxyFault == nil)
    }

    @Test func usesTLSToAnHTTPSProxy() async throws {
        let proxy = try await ProxyServer(.https)
        try await serve { url in
            let trusting = try makeTransport(through: .https, port: proxy.port, caFile: proxy.caFile)
            #expect(try await answerText(over: trusting, of: url) == "ok")
            let error = try await failure(over: try makeTransport(through: .https, port: proxy.port), of: url)
            #expect(error.proxyFault?.cause == .untrustedCertificate, "\(error)")
            #expect(error.description.contains("the certificate of the proxy https://localhost:\(proxy.port)"))
        }
    }

    /// Plain http to this machine also uses the proxy.
    @Test(arguments: [ProxyServer.Kind.http, .socks5h])
    func reportsThatTheLoginIsRejected(kind: ProxyServer.Kind) async throws {
        let proxy = try await ProxyServer(kind)
        try await serve { url in
            #expect(try await answerText(over: try makeTransport(through: kind, port: proxy.port), of: url) == "ok")
            for password in ["wrong-4712", nil] {
                let error = try await failure(
                    over: try makeTransport(through: kind, port: proxy.port, password: password), of: url)
                #expect(error.code == .connectionFailed)
                let fault = try #require(error.proxyFault)
                let causes: [ProxyFault.Cause] =
                    kind == .http ? [.answered(status: 401), .answered(status: 407)] : [.rejected]
                #expect(causes.contains(fault.cause), "\(error)")
                #expect(fault.hasLogin == (password != nil) && fault.key == "upload.proxy")
                #expect(!error.description.contains("wrong-4712"))
            }
        }
    }

    @Test func reportsThatTheServerIsForbiddenOrUnreachable() async throws {
        let proxy = try await ProxyServer(.http, forbidding: "localhost")
        let transport = try makeTransport(through: .http, port: proxy.port)
        let forbidden = try await failure(over: transport, of: "https://localhost:4711/")
        #expect(forbidden.proxyFault?.cause == .answered(status: 403), "\(forbidden)")
        #expect(forbidden.description.contains("it doesn't allow localhost:4711"))
        let closed = try LoopbackSocket.reservation()
        let away = try await failure(over: transport, of: "https://127.0.0.1:\(closed.port)/")
        #expect([500, 502, 503].contains { away.proxyFault?.cause == .answered(status: $0) }, "\(away)")
    }

    @Test func worksAgainWhenTheProxyDoes() async throws {
        let reserved = try LoopbackSocket.reservation()
        let port = reserved.port
        let first = try await ProxyServer(.http, port: port)
        try await serve { url in
            let transport = try makeTransport(through: .http, port: port)
            #expect(try await answerText(over: transport, of: url) == "ok")
            first.stop()
            // The first attempt may find its connection lost.
            _ = try? await answerText(over: transport, of: url)
            let error = try await failure(over: transport, of: url)
            #expect(error.code == .connectionFailed && error.proxyFault?.cause == .notConnected, "\(error)")
            #expect(
                error.description.contains("no connection to the proxy http://127.0.0.1:\(port): Connection refused"))
            let second = try await ProxyServer(.http, port: port)
            #expect(try await answerText(over: transport, of: url) == "ok")
            _ = second
        }
    }

    /// The proxy accepts connections but doesn't answer.
    @Test func namesASilentProxy() async throws {
        let silent = try LoopbackSocket(.stream)
        let transport = try makeTransport(through: .http, port: silent.port)
        var request = HTTPRequest(.get, try HTTPURL("https://localhost:4711/"))
        request.limits = HTTPLimits(total: .seconds(1))
        do {
            _ = try await transport.send(request)
            Issue.record("answered")
        } catch {
            #expect(error.code == .timedOut && error.proxyFault?.cause == .timedOut)
            #expect(
                error.description.hasPrefix(
                    "https://localhost:4711: timeout: no answer through the proxy http://127.0.0.1:\(silent.port)"),
                "\(error)")
        }
    }

    /// An answer that doesn't come from the proxy is never accepted as the server's.
    @Test(
        arguments: [
            ("HTTP/1.1 302 Found\r\nLocation: http://portal/\r\nContent-Length: 0\r\n\r\n", 302),
            ("HTTP/1.1 511 Network Authentication Required\r\nContent-Length: 0\r\n\r\n", 511),
            ("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n", 405),
        ])
    func doesNotAcceptTheAnswerOfAPortal(answer: String, status: Int) async throws {
        let portal = try RawServer(answering: [answer])
        let port = try #require(portal.authority.split(separator: ":").last.flatMap { Int($0) })
        let error = try await failure(
            over: try makeTransport(through: .http, port: port), of: "https://localhost:4711/")
        #expect(error.proxyFault?.cause == .answered(status: status), "\(error)")
    }
}
