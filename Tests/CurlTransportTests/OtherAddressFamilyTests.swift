import HTTPMessages
import LinuxPlatform
import ReportedText
import Testing
import WaypostTestSupport

@testable import CurlTransport

/// A name with addresses of both families, at least one of which is broken: its port accepts connections and stays
/// silent.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Loopback.hasIPv6, "IPv6 on loopback is needed"))
struct OtherAddressFamily {
    private static let hosts = ["127.0.0.1", "::1"]

    /// libcurl tries one family first, so it matters which family is broken.
    @Test(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"))
    func isTriedAfterAFailureAndRemembered() async throws {
        var failures: [String] = []
        for (silentHost, host) in [("127.0.0.1", "[::1]"), ("::1", "127.0.0.1")] {
            let server = try await NginxServer(host: host)
            let silent = try ListeningSocket(on: .loopback(host: silentHost, port: server.port))
            let transport = try Loopback.makeTransport(caFile: server.caFile)
            let url = try HTTPURL("https://localhost:\(server.port)/")
            let limits = HTTPLimits(connect: .milliseconds(400), total: .seconds(20))
            do { _ = try await transport.send(HTTPRequest(.get, url, limits: limits)) } catch {
                failures.append("\(error)")
            }
            for _ in 0..<3 { #expect(try await transport.send(HTTPRequest(.get, url)).status == 200) }
            _ = silent.raw
        }
        let words = try #require(failures.first)
        #expect(failures.count == 1)
        #expect(Self.familyNames.contains { words.hasSuffix("(over \($0); \($1) is next)") }, "\(words)")
    }

    private static let familyNames = [("IPv4", "IPv6"), ("IPv6", "IPv4")]

    /// The port of the other family rejects connections, so the exchange is repeated over any family.
    @Test func isAbandonedAtOnceIfItRejectsConnections() async throws {
        let silent = try ListeningSocket(on: .loopback(host: Self.hosts[1], port: 0))
        guard case .loopback(_, let port) = silent.address else { return }
        let transport = try Loopback.makeTransport()
        let limits = HTTPLimits(connect: .milliseconds(300), total: .seconds(20))
        let request = HTTPRequest(.get, try HTTPURL("https://localhost:\(port)/"), limits: limits)
        var routes: [String] = []
        for _ in 0..<2 {
            let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
            routes.append(error?.route?.description ?? "none")
        }
        #expect(routes == ["over IPv6; IPv4 is next", "over IPv6"])
        _ = silent.raw
    }

    /// Outcomes of an exchange with a server that accepts connections and stays silent.
    enum Ending: Sendable, CaseIterable { case lateHandshake, cancelledHandshake, lateAnswer, cancelledAnswer }

    /// A handshake that hangs until its time limit counts against its address family. A handshake that a stop, a reload
    /// or private mode cancels within two seconds doesn't count, and neither does a slow answer.
    @Test(arguments: Ending.allCases) func isTriedOnlyAfterAHandshakeThatHangs(ending: Ending) async throws {
        let one = try ListeningSocket(on: .loopback(host: Self.hosts[0], port: 0))
        guard case .loopback(_, let port) = one.address else { return }
        let other = try ListeningSocket(on: .loopback(host: Self.hosts[1], port: port))
        let raw = [one.raw, other.raw]
        let unused = try EventDescriptor()
        let transport = try Loopback.makeTransport()
        let isConnected = ending == .lateAnswer || ending == .cancelledAnswer
        let url = try HTTPURL("\(isConnected ? "http" : "https")://localhost:\(port)/")
        var limits = HTTPLimits(connect: .seconds(30), total: .seconds(30))
        if ending == .lateHandshake { limits.connect = .milliseconds(300) }
        if ending == .lateAnswer { limits.total = .milliseconds(300) }
        var routes: [String] = []
        for _ in 0..<2 {
            let sending = Task { [limits] in try await transport.send(HTTPRequest(.get, url, limits: limits)) }
            if ending == .cancelledHandshake || ending == .cancelledAnswer {
                await onThread(named: "listener") {
                    func isReady(_ socket: CInt) -> Bool {
                        if case .ready = try? poll(socket, within: .milliseconds(50), unless: unused) {
                            true
                        } else {
                            false
                        }
                    }
                    while !isReady(raw[0]), !isReady(raw[1]) {}
                }
                sending.cancel()
            }
            let error = await #expect(throws: HTTPTransportError.self) { try await sending.value }
            routes.append(error.map { "\($0.route ?? "none")" } ?? "none")
        }
        let expected =
            ending == .lateHandshake
            ? Self.familyNames.map { ["over \($0); \($1) is next", "over \($1)"] } : [["none", "none"]]
        #expect(expected.contains(routes), "\(routes)")
        _ = (one.raw, other.raw)
    }
}
