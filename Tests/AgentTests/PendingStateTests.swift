import HTTPMessages
import LinuxPlatform
import Reporting
import Testing
import WaypostTestSupport

@testable import Operations
@testable import Waypost

/// The vehicle's last state, told by the next start.
@Suite(.timeLimit(.minutes(1))) struct PendingStates {
    let directory: TemporaryDirectory
    let clock = ManualClock()
    let monitor: AgentMonitor

    init() throws {
        directory = try TemporaryDirectory()
        monitor = AgentMonitor(clock: MonotonicClock(clock))
        try record("providers/p/vehicles/van-7")
    }

    private func record(_ vehicle: String) throws {
        try directory.write("\(vehicle)\n".utf8, to: "outbox.sqlite.pending-state")
    }

    /// An agent with a pending state, over `transport`; nothing of it runs.
    private func agent(
        over transport: ScriptedTransport, _ edit: (inout ServiceSetup) -> Void = { _ in }
    ) async throws -> VehicleAgent {
        var setup = ServiceSetup()
        edit(&setup)
        let config = try setup.write(in: directory)
        return try await VehicleAgent(
            try Configuration(file: config),
            VehicleAgent.Parts(
                source: NoSource(),
                makeDelivery: { $0.makeDelivery(authorization: ScriptedAuthorization(), transport: transport) },
                expectedFix: nil, spacing: .live, latestFix: { nil }, clock: MonotonicClock(clock),
                log: LogWriter(level: .error, format: .text), monitor: monitor))
    }

    private var isPending: Bool {
        get throws { try FileSystem.entry(at: directory.path("outbox.sqlite.pending-state")) != nil }
    }

    /// Answers with these, one after another.
    private func answering(_ statuses: [Int]) -> ScriptedTransport {
        let answers = Locked(statuses)
        return ScriptedTransport { _ throws(HTTPTransportError) in
            let status = answers.withLock { $0.removeFirst() }
            let name = #"{"name": "providers/p/vehicles/van-7"}"#
            return HTTPResponse(status: status, body: status == 200 ? Array(name.utf8) : [])
        }
    }

    @Test func isToldUntilItIsTaken() async throws {
        let transport = answering([503, 200])
        let agent = try await agent(over: transport)
        async let telling: Void = agent.announcePendingState()
        for await sleep in clock.sleeps.prefix(1) { clock.advance(by: sleep) }
        await telling
        #expect(transport.requests.count == 2)
        #expect(try !isPending)
        await agent.close()
    }

    /// An update tells the running vehicle's state; the old one must not follow it, whatever the update was. But of a
    /// vehicle that may be in one of its private zones an update tells no state.
    @Test(arguments: [("", 1), (#""privateZones": [{"latitude": 48, "longitude": 11, "radiusMeters": 200}]"#, 2)])
    func isOverWithAnyDeliveryThatTellsAState(reporting: String, requests: Int) async throws {
        let transport = answering([503, 200])
        let agent = try await agent(over: transport) { if !reporting.isEmpty { $0.reporting = reporting } }
        async let telling: Void = agent.announcePendingState()
        for await sleep in clock.sleeps.prefix(1) {
            // A heartbeat or a position from memory: nothing of the outbox is delivered by it.
            let repeated = UploadBatch(last: ProgressWatches.stored, lastIsPending: false, past: [])
            monitor.observe(.delivered(repeated, traffic: Traffic(), took: .zero))
            clock.advance(by: sleep)
        }
        await telling
        #expect(transport.requests.count == requests)
        #expect(try !isPending)
        await agent.close()
    }

    /// A gateway that has moved: the state of the van before is not this one's, and is forgotten with its first stop.
    @Test(arguments: ["providers/p/vehicles/van-8", ""], [200, 503])
    func isNotSentForAnother(owner: String, status: Int) async throws {
        try record(owner)
        let transport = ScriptedTransport { _ throws(HTTPTransportError) in
            HTTPResponse(status: status, body: Array(#"{"name": "providers/p/vehicles/van-7"}"#.utf8))
        }
        let agent = try await agent(over: transport)
        await agent.announcePendingState()
        #expect(transport.requests.isEmpty)
        await agent.shutDown()
        if status == 200 { #expect(try !isPending) } else { #expect(try contents == "providers/p/vehicles/van-7\n") }
    }

    private var contents: String {
        get throws {
            let path = directory.path("outbox.sqlite.pending-state")
            return String(decoding: try BoundedFile.contents(of: path, limit: 99), as: UTF8.self)
        }
    }
}

/// Has nothing to tell.
struct NoSource: FixSource {
    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {}
}
