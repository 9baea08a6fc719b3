import CurlTransport
import HTTPMessages
import Testing
import WaypostTestSupport

/// Servers that send HTTP/2 frames endlessly.
@Suite(.enabled(if: FloodServer.isAvailable, "python3 and openssl are needed"), .timeLimit(.minutes(1)), .serialized)
struct FloodedExchange {
    /// Long time limits, so that only the number of bytes ends the exchange.
    private let longLimits = HTTPLimits(connect: .seconds(600), total: .seconds(600), responseBytes: 1000)

    @Test(arguments: ["window-update", "goaway", "priority", "unknown", "empty-data", "padding"])
    func endsBeforeItsTimeLimit(kind: String) async throws {
        let server = try await FloodServer(behaviour: kind)
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        let error = try await failure(over: transport, from: server)
        #expect(error.code == .responseTooLarge)
        #expect(error.description.contains("endless data"), "\(error)")
        #expect(await server.hasCounted(1, of: "request"))
        #expect(await server.wait(for: "ended", times: 1), "the connection is closed")
    }

    /// Frames that must be answered: libcurl itself notices that the answers aren't read.
    @Test(arguments: ["settings", "ping"])
    func endsIfItsAnswersAreNotRead(kind: String) async throws {
        let server = try await FloodServer(behaviour: kind)
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        let error = try await failure(over: transport, from: server)
        #expect([.connectionLost, .responseTooLarge].contains(error.code), "\(error)")
        #expect(await server.hasCounted(1, of: "request"))
    }

    /// HTTP/2 allows repeating a rejected stream, but the caller decides whether and when to repeat it.
    @Test func isSentOnceIfItsStreamIsRejected() async throws {
        let server = try await FloodServer(behaviour: "refused")
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        for attempt in 1...2 {
            let error = try await failure(over: transport, from: server)
            #expect(error.code == .connectionLost)
            #expect(error.description.contains("rejected"), "\(error)")
            #expect(await server.hasCounted(attempt, of: "request"))
        }
        #expect(await server.hasCounted(2, of: "connection"))
    }

    /// Some servers request client certificates only over HTTP/1.1, which requires another request.
    @Test func isRepeatedForAServerThatDemandsHTTP1() async throws {
        let server = try await FloodServer(behaviour: "http-1.1")
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        let response = try await transport.send(HTTPRequest(.get, try HTTPURL(server.url), limits: longLimits))
        #expect(response.status == 200 && response.body == Array("ok".utf8))
        #expect(await server.hasCounted(2, of: "request"))
    }

    @Test func isAbandonedWhenCancelled() async throws {
        let server = try await FloodServer(behaviour: "window-update")
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        let request = HTTPRequest(.get, try HTTPURL(server.url), limits: longLimits)
        let sending = Task { try await transport.send(request) }
        #expect(await server.wait(for: "request", times: 1))
        sending.cancel()
        let error = await #expect(throws: HTTPTransportError.self) { try await sending.value }
        #expect(error.map { [.cancelled, .responseTooLarge].contains($0.code) } == true)
    }

    private func failure(over transport: CurlTransport, from server: FloodServer) async throws -> HTTPTransportError {
        let request = HTTPRequest(.put, try HTTPURL(server.url), body: Array("hello".utf8), limits: longLimits)
        return try #require(
            await #expect(throws: HTTPTransportError.self) { try await transport.send(request) })
    }
}
