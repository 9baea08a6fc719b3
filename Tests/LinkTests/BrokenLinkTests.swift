import Conditions
import CurlTransport
import FaultProxy
import FleetEngine
import FleetEngineDelivery
import HTTPMessages
import HTTPService
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import Operations
import WaypostTestSupport

/// Exchanges of libcurl over links that break in every way: the kind of failure, the time until it is noticed, and the
/// next exchange over the repaired link, which must work.
@Suite(.timeLimit(.minutes(2))) struct BrokenLink {
    enum Kind: Sendable { case delivered, unreachable }

    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let link: LinkFaults
        let kind: Kind
        /// The range of seconds after which the failure must be noticed, generous for a loaded machine.
        let noticedAfter: ClosedRange<Double>

        init(
            _ name: String, _ kind: Kind, noticedAfter: ClosedRange<Double>, _ change: (inout LinkFaults) -> Void
        ) {
            testDescription = name
            self.kind = kind
            self.noticedAfter = noticedAfter
            link = LinkFaults(change)
        }
    }

    static let limits = HTTPLimits(connect: .seconds(1), total: .seconds(2))

    static let faults: [Fault] = [
        Fault("delay of 100 to 300 ms", .delivered, noticedAfter: 0.2...3) {
            $0.toServer.delay = .milliseconds(100) ... .milliseconds(300)
            $0.toClient.delay = .milliseconds(100) ... .milliseconds(300)
        },
        Fault("2000 bytes per second", .delivered, noticedAfter: 0.1...3) { $0.toServer.bytesPerSecond = 2000 },
        Fault("refused", .unreachable, noticedAfter: 0...1) { $0.reception = .refusing },
        Fault("half open from the beginning", .unreachable, noticedAfter: 1.9...4) { $0.reception = .swallowing },
        Fault("reset within the request", .unreachable, noticedAfter: 0...1) { $0.toServer.end = (100, .reset) },
        Fault("reset before the answer", .unreachable, noticedAfter: 0...1) { $0.toClient.end = (0, .reset) },
        Fault("reset within the answer", .unreachable, noticedAfter: 0...1) { $0.toClient.end = (60, .reset) },
        Fault("closed within the answer", .unreachable, noticedAfter: 0...1) { $0.toClient.end = (110, .close) },
        Fault("stall within the answer", .unreachable, noticedAfter: 1.9...4) { $0.toClient.end = (60, .stall) },
        Fault("drip of a byte every 20 ms", .unreachable, noticedAfter: 1.9...4) {
            ($0.toClient.maximumPiece, $0.toClient.pause) = (1, .milliseconds(20))
        },
    ]

    @Test(arguments: faults) func isNoticedInTime(fault: Fault) async throws {
        try await Self.withProxy { proxy, request in
            let transport = try Self.transport()
            await proxy.set(fault.link)
            let (kind, took, _) = await Self.measureExchange(of: request, over: transport)
            #expect(kind == fault.kind)
            #expect(fault.noticedAfter.contains(took), "\(took) s")
            print(
                "link: \(fault.testDescription): \(kind.map { "\($0)" } ?? "?") after \((took * 1000).rounded() / 1000) s"
            )
            await proxy.set(LinkFaults())
            await proxy.sever()
            #expect(await Self.measureExchange(of: request, over: transport).kind == .delivered)
        }
    }

    /// A backend that is being drained answers with errors as long as its connections are kept.
    @Test func isAbandonedAfterTwoServerErrors() async throws {
        let connections = Locked<@Sendable () -> Int>({ 0 })
        let server = try StandInFleetEngine { _, _ in
            connections.withLock { $0() } < 2 ? StandInFleetEngine.refusal(503, "UNAVAILABLE") : nil
        }
        let proxy = try FaultProxy(to: server.address)
        connections.withLock { $0 = { proxy.counts.connections } }
        let bench = LinkBench()
        try await bench.appendUpdates(of: 1...3)
        let seen = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.service.run() }
            let seen = try await bench.drain(bench.reporter(to: "http://\(proxy.address)"), waits: 6)
            group.cancelAll()
            return seen
        }
        connections.withLock { $0 = { 0 } }
        #expect(seen.waits == [1, 2].map { .seconds($0) })
        #expect(seen.ledger == Ledger(accepted: 3, delivered: 3))
        #expect(proxy.counts.connections == 2)
    }

    /// The certificate belongs to a portal or has expired, so there is an intermediary or the clock is wrong.
    @Test(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"))
    func losesNoUpdatesIfTheCertificateIsNotTrusted() async throws {
        let server = try await NginxServer()
        for (port, word) in [(server.foreignPort, "localhost"), (server.expiredPort, "expired")] {
            let proxy = try FaultProxy(to: .loopback(host: "127.0.0.1", port: port))
            let bench = LinkBench()
            try await bench.appendUpdates(of: 1...3)
            let authority = proxy.address.description.replacing("127.0.0.1", with: "localhost")
            let reporter = try bench.reporter(to: "https://\(authority)", caFile: server.caFile)
            let seen = try await bench.drain(reporter, waits: 4)
            #expect(seen.waits == [1, 2, 4, 8].map { .seconds($0) })
            #expect(seen.ledger == Ledger(accepted: 3, pending: 3))
            let reason = try #require(seen.reasons.first)
            #expect(reason.contains(word) && reason.contains("captive portal"), "\(reason)")
        }
    }

    private static func transport() throws -> CurlTransport {
        try CurlTransport(options: CurlTransportOptions(userAgent: "waypost/test"))
    }

    private static func withProxy(_ body: (FaultProxy, HTTPRequest) async throws -> Void) async throws {
        let server = try StandInFleetEngine()
        let proxy = try FaultProxy(to: server.address)
        let request = HTTPRequest(
            .put, try HTTPURL("http://\(proxy.address)/v1/providers/p/vehicles/v?updateMask=lastLocation"),
            headers: HTTPHeaders(["Authorization": "Bearer t"]), body: [UInt8](repeating: 0x20, count: 300),
            limits: limits)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await server.service.run() }
            try await body(proxy, request)
            group.cancelAll()
        }
    }

    private static func measureExchange(
        of request: HTTPRequest, over transport: CurlTransport
    ) async -> (kind: Kind?, seconds: Double, reason: String) {
        let start = ContinuousClock.now
        var outcome: DeliveryOutcome
        do {
            let vehicle = try VehicleName(service: .onDemandTrips, providerID: "p", vehicleID: "v")
            outcome = DeliveryOutcome(of: try await transport.send(request), to: request, for: vehicle)
        } catch let error as HTTPTransportError {
            outcome = DeliveryOutcome(of: error, from: "")
        } catch { outcome = .held(.sample("\(error)")) }
        let kind: Kind? =
            switch outcome {
            case .delivered: .delivered
            case .unanswered: .unreachable
            default: nil
            }
        return (kind, start.duration(to: .now) / .seconds(1), Condition(outcome)?.explanation.description ?? "")
    }
}
