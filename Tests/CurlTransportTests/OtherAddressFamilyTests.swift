import HTTPMessages
import HTTPService
import LinuxPlatform
import ReportedText
import Testing
import WaypostTestSupport

@testable import CurlTransport

/// A name with addresses of both families, one of which is broken: its port accepts connections and says nothing.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Loopback.hasIPv6, "IPv6 on loopback is needed"))
struct OtherAddressFamily {
    private static let hosts = ["127.0.0.1", "::1"]

    /// libcurl connects to one of them first; which one is broken makes the difference.
    @Test func isTriedAfterAFailureAndRemembered() async throws {
        var failures: [String] = []
        for (silentHost, host) in [(Self.hosts[0], Self.hosts[1]), (Self.hosts[1], Self.hosts[0])] {
            let service = try HTTPService(
                listeningOn: .loopback(host: host, port: 0), limits: HTTPServiceLimits(connections: 16)
            ) { _ in ServedResponse(status: 200, contentType: "text/plain", "ok") }
            let port = try HTTPURL("http://\(service.address)").port
            let silent = try ListeningSocket(on: .loopback(host: silentHost, port: UInt16(port)))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await service.run() }
                let transport = try Loopback.transport()
                let url = try HTTPURL("http://localhost:\(port)")
                let limits = HTTPLimits(connect: .seconds(20), total: .milliseconds(400))
                do { _ = try await transport.send(HTTPRequest(.get, url, limits: limits)) } catch {
                    failures.append("\(error)")
                }
                for _ in 0..<3 { #expect(try await transport.send(HTTPRequest(.get, url)).status == 200) }
                group.cancelAll()
            }
            _ = silent.raw
        }
        let words = try #require(failures.first)
        #expect(failures.count == 1)
        #expect(Self.names.contains { words.hasSuffix("(over \($0); \($1) is next)") }, "\(words)")
    }

    private static let names = [("IPv4", "IPv6"), ("IPv6", "IPv4")]

    /// Also when the exchange is aborted for a newer position meanwhile.
    @Test(arguments: [false, true]) func isTriedAfterAHandshakeThatHangs(isCancelled: Bool) async throws {
        let one = try ListeningSocket(on: .loopback(host: Self.hosts[0], port: 0))
        guard case .loopback(_, let port) = one.address else { return }
        let other = try ListeningSocket(on: .loopback(host: Self.hosts[1], port: port))
        let (raw, unused) = ([one.raw, other.raw], try EventDescriptor())
        let transport = try Loopback.transport()
        let url = try HTTPURL("https://localhost:\(port)/")
        var limits = HTTPLimits(connect: .seconds(30), total: .seconds(30))
        if !isCancelled { limits.connect = .milliseconds(300) }
        var routes: [String] = []
        for _ in 0..<(isCancelled ? 1 : 2) {
            let sending = Task { [limits] in try await transport.send(HTTPRequest(.get, url, limits: limits)) }
            if isCancelled {
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
        let expected = Self.names.map { ["over \($0); \($1) is next", "over \($1)"].prefix(routes.count) }
        #expect(expected.contains { $0.elementsEqual(routes) }, "\(routes)")
        _ = (one.raw, other.raw)
    }
}
