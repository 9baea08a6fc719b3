import CurlTransport
import HTTPMessages
import HTTPService
import LinuxPlatform
import Testing
import WaypostTestSupport

@Suite(.timeLimit(.minutes(1))) struct BrokenExchange {
    /// Long limits, so that a loaded machine reaches none of them. A test shortens only the limit that it is about.
    private let longLimits = HTTPLimits(
        connect: .seconds(60), total: .seconds(60), responseBytes: 1000)

    /// The server's behaviour, the total limit in milliseconds, and the error's code.
    @Test(
        arguments: [
            (ServedResponse.Delivery.reset(afterBytes: 0), 60_000, HTTPTransportError.Code.connectionLost),
            (.reset(afterBytes: 60), 60_000, .connectionLost), (.drop, 60_000, .connectionLost),
            (.stall(afterBytes: 0), 100, .timedOut), (.stall(afterBytes: 10), 100, .timedOut),
            (.stall(afterBytes: 80), 100, .timedOut),
        ])
    func failsWithTheExpectedCode(
        delivery: ServedResponse.Delivery, limit: Int, code: HTTPTransportError.Code
    ) async throws {
        var limits = longLimits
        limits.total = .milliseconds(limit)
        try await Loopback.serve { _ in
            var response = ServedResponse(status: 200, contentType: "text/plain", String(repeating: "x", count: 500))
            response.delivery = delivery
            return response
        } during: { url in
            let error = try await failure(of: url, limits: limits)
            #expect(error.code == code)
            #expect(error.traffic.bytesSent > 0)
        }
    }

    /// Bytes that aren't an HTTP answer, or an answer that is too large.
    @Test(
        arguments: [
            ("SSH-2.0-OpenSSH_9.2\r\n", HTTPTransportError.Code.malformedResponse),
            ("<html>no header</html>", .malformedResponse),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", .responseTooLarge),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", .responseTooLarge),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1388\r\n" + String(repeating: "x", count: 5000),
                .responseTooLarge
            ),
            (
                "HTTP/1.1 200 OK\r\n"
                    + String(repeating: "X-Y: " + String(repeating: "z", count: 900) + "\r\n", count: 90),
                .responseTooLarge
            ),
        ])
    func failsIfTheAnswerIsMalformedOrTooLarge(answer: String, code: HTTPTransportError.Code) async throws {
        let server = try RawServer(answering: [answer])
        let error = try await failure(of: "http://\(server.authority)", limits: longLimits)
        #expect(error.code == code)
        #expect(error.description.hasPrefix("http://\(server.authority): "))
    }

    @Test func endsAtTheTotalTimeLimitIfItsAnswerIsSlow() async throws {
        let drops = ["HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"] + [String](repeating: "x", count: 100)
        let server = try RawServer(answering: drops, pause: .milliseconds(30))
        var limits = longLimits
        limits.total = .milliseconds(400)
        let error = try await failure(of: "http://\(server.authority)", limits: limits)
        #expect(error.code == .timedOut)
        #expect(error.description.contains("no complete answer within 0.4 s"))
        #expect(error.traffic.bytesReceived > 0)
    }

    /// The server answers later than the time limit for connecting.
    @Test func waitsForASilentServerUntilItsTotalTimeLimit() async throws {
        let server = try RawServer(
            answering: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"], pause: .milliseconds(10_500))
        let request = HTTPRequest(
            .put, try HTTPURL("http://\(server.authority)"), body: Array("body".utf8),
            limits: HTTPLimits(connect: .seconds(10), total: .seconds(60)))
        #expect(try await Loopback.makeTransport().send(request).status == 200)
    }

    @Test func endsAtTheConnectTimeLimitIfItsHandshakeHangs() async throws {
        let server = try RawServer(answering: [])
        var limits = longLimits
        limits.connect = .milliseconds(100)
        let error = try await failure(of: "https://\(server.authority)", limits: limits)
        #expect(error.code == .timedOut)
        #expect(error.description.contains("no connection within 0.1 s"))
    }

    @Test func failsIfThePortIsClosed() async throws {
        let closed = try LoopbackSocket.reservation()
        let error = try await failure(of: "http://127.0.0.1:\(closed.port)", limits: HTTPLimits())
        #expect(error.code == .connectionFailed)
    }

    @Test func failsIfTheNameIsUnknown() async throws {
        let error = try await failure(
            of: "https://waypost-test.invalid/", limits: HTTPLimits(connect: .seconds(2), total: .seconds(2)))
        // Without a network the resolver may time out instead of failing.
        #expect([.nameNotResolved, .timedOut].contains(error.code))
        #expect(error.description.hasPrefix("https://waypost-test.invalid: "))
    }

    @Test(arguments: ["http", "https"])
    func isAbandonedWhenCancelled(scheme: String) async throws {
        // With http, the request waits for its answer; with https, it waits for the handshake.
        let server = try RawServer(answering: [])
        let transport = try Loopback.makeTransport()
        let url = try HTTPURL("\(scheme)://\(server.authority)")
        let sending = Task { [longLimits] in try await transport.send(HTTPRequest(.get, url, limits: longLimits)) }
        for await _ in server.requests { break }
        sending.cancel()
        let error = await #expect(throws: HTTPTransportError.self) { try await sending.value }
        #expect(error?.code == .cancelled)
    }

    /// When the network changes, a connection that is being established uses a lost route. An established one keeps its
    /// time limit.
    @Test(arguments: [("https", HTTPTransportError.Code.connectionFailed), ("http", .timedOut)])
    func usesANewConnectionWhenTheNetworkChanges(scheme: String, code: HTTPTransportError.Code) async throws {
        let server = try RawServer(answering: [])
        let transport = try Loopback.makeTransport()
        let url = try HTTPURL("\(scheme)://\(server.authority)")
        var limits = longLimits
        // Only an established connection may wait until its time limit.
        if code == .timedOut { limits.total = .milliseconds(300) }
        let sending = Task { [limits] in try await transport.send(HTTPRequest(.get, url, limits: limits)) }
        for await _ in server.requests { break }
        transport.networkChanged()
        let error = await #expect(throws: HTTPTransportError.self) { try await sending.value }
        #expect(error?.code == code)
    }

    @Test func doesNotStartIfAlreadyCancelled() async throws {
        let transport = try Loopback.makeTransport()
        let url = try HTTPURL("http://127.0.0.1:1")
        let sending = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await transport.send(HTTPRequest(.get, url))
        }
        let error = await #expect(throws: HTTPTransportError.self) { try await sending.value }
        #expect(error?.code == .cancelled)
    }

    @Test func doesNotDelayOtherExchanges() async throws {
        let silent = try RawServer(answering: [])
        try await Loopback.serve { _ in
            ServedResponse(status: 200, contentType: "text/plain", "ok")
        } during: { url in
            let transport = try Loopback.makeTransport()
            let deadURL = try HTTPURL("http://\(silent.authority)")
            let dead = Task { try await transport.send(HTTPRequest(.get, deadURL)) }
            for _ in 0..<20 {
                #expect(try await transport.send(HTTPRequest(.get, try HTTPURL(url))).status == 200)
            }
            dead.cancel()
            _ = await dead.result
        }
    }

    private func failure(of url: String, limits: HTTPLimits) async throws -> HTTPTransportError {
        let transport = try Loopback.makeTransport()
        let request = HTTPRequest(
            .post, try HTTPURL(url), headers: HTTPHeaders(["Authorization": "Bearer top-secret"]),
            body: Array("body-secret".utf8), limits: limits)
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
        #expect(error?.description.contains("secret") == false)
        return try #require(error)
    }
}
