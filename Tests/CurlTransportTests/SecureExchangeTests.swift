import CurlTransport
import HTTPMessages
import LinuxPlatform
import ReportedText
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)), .serialized)
struct SecureExchange {
    @Test func verifiesTheServerAndSpeaksHTTP2() async throws {
        let server = try await NginxServer()
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        let spoken = try await answerText(over: transport, port: server.port, target: "/protocol")
        #expect(spoken == "HTTP/2.0 TLSv1.3")
    }

    @Test func rejectsAServerThatItCannotVerify() async throws {
        let server = try await NginxServer()
        let trusting = try Loopback.makeTransport(caFile: server.caFile)
        let plain = try Loopback.makeTransport()
        let faults: [(CurlTransport, UInt16, String, CertificateFault)] = [
            (plain, server.port, "certificate", .unknownAuthority),
            (trusting, server.expiredPort, "expired", .notValidNow),
            (trusting, server.foreignPort, "localhost", .otherHostName),
        ]
        for (transport, port, word, fault) in faults {
            let request = HTTPRequest(.get, try HTTPURL("https://localhost:\(port)/"))
            let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
            #expect(error?.code == .certificateNotTrusted && error?.certificateFault == fault)
            #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
        }
    }

    /// The expiry is reported only if requested, and with the first request of a connection.
    @Test func reportsWhenTheCertificateOfTheServerExpires() async throws {
        let server = try await NginxServer()
        let request = HTTPRequest(.get, try HTTPURL("https://localhost:\(server.port)/"))
        var options = CurlTransportOptions(userAgent: "waypost/test", caFile: server.caFile)
        let silent = try await CurlTransport(options: options).send(request)
        #expect(silent.certificateEnd == nil)
        options.reportsCertificateEnd = true
        let transport = try CurlTransport(options: options)
        let response = try await transport.send(request)
        #expect(response.certificateEnd?.shortestDescription == "2099-12-31T23:59:59Z")
        let plain = try RawServer(answering: ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
        let unencrypted = try await transport.send(HTTPRequest(.get, try HTTPURL("http://\(plain.authority)/")))
        #expect(unencrypted.certificateEnd == nil)
    }

    @Test func usesOneConnectionForAllRequests() async throws {
        let server = try await NginxServer()
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        let connections = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<90 {
                group.addTask { try await answerText(over: transport, port: server.port, target: "/connection") }
            }
            return try await group.reduce(into: Set<Substring>()) { $0.insert($1.prefix { $0 != " " }) }
        }
        #expect(connections.count == 1)
        let last = try await answerText(over: transport, port: server.port, target: "/connection")
        #expect(last == "\(connections.first ?? "") 91")
    }

    /// The vehicles of a load test send about 2000 requests at once.
    @Test func sharesFewConnectionsAmongManyRequests() async throws {
        let server = try await NginxServer()
        var options = CurlTransportOptions(userAgent: "waypost/test", caFile: server.caFile)
        options.maximumConnections = 256
        let transport = try CurlTransport(options: options)
        let connections = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<2000 {
                group.addTask { try await answerText(over: transport, port: server.port, target: "/connection") }
            }
            return try await group.reduce(into: Set<Substring>()) { $0.insert($1.prefix { $0 != " " }) }
        }
        #expect(connections.count <= 6, "\(connections)")
    }

    /// The token has 640 bytes and the body has 300, about as many as in an update.
    @Test func spendsFewBytesOnARequestOverAnOpenConnection() async throws {
        let server = try await NginxServer()
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        let request = HTTPRequest(
            .put, try HTTPURL("https://localhost:\(server.port)/bytes?updateMask=lastLocation,vehicleState"),
            headers: HTTPHeaders([
                "Authorization": "Bearer \(String(repeating: "aZ0_", count: 160))",
                "Content-Type": "application/json",
            ]), body: [UInt8](repeating: 0x61, count: 300))
        _ = try await transport.send(request)
        let response = try await transport.send(request)
        let length = try #require(Int(String(decoding: response.body, as: UTF8.self)))
        #expect((400...700).contains(length), "\(length) bytes of compressed header")
        #expect((1000...1300).contains(response.traffic.bytesSent), "\(response.traffic.bytesSent) bytes counted")
    }

    @Test func resumesTheTLSSessionOnANewConnection() async throws {
        let server = try await NginxServer()
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        #expect(try await answerText(over: transport, port: server.briefPort, target: "/session") == "1 .")
        let second = try await answerText(over: transport, port: server.briefPort, target: "/session")
        #expect(second == "1 r")
    }

    @Test func closesTheConnectionAfterATimeout() async throws {
        let server = try await NginxServer()
        let transport = try Loopback.makeTransport(caFile: server.caFile)
        let first = try await answerText(over: transport, port: server.port, target: "/connection")
        #expect(first.hasSuffix(" 1"))
        let slow = HTTPRequest(
            .get, try HTTPURL("https://localhost:\(server.port)/slow"),
            limits: HTTPLimits(total: .milliseconds(100)))
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(slow) }
        #expect(error?.code == .timedOut)
        let next = try await answerText(over: transport, port: server.port, target: "/connection")
        #expect(next != first && next.hasSuffix(" 1"), "\(first), then \(next)")
    }

    private func answerText(over transport: CurlTransport, port: UInt16, target: String) async throws -> String {
        let response = try await transport.send(HTTPRequest(.get, try HTTPURL("https://localhost:\(port)\(target)")))
        return String(decoding: response.body, as: UTF8.self)
    }
}
