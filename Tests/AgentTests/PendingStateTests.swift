import Conditions
import HTTPMessages
import LinuxPlatform
import ReportedText
import Reporting
import Testing
import WaypostTestSupport

@testable import Operations
@testable import Waypost

/// The vehicle's stop state, which is sent at the next start if it hasn't been sent yet.
@Suite(.timeLimit(.minutes(1))) struct PendingStates {
    let directory: TemporaryDirectory
    let clock = ManualClock()
    let monitor: AgentMonitor

    init() throws {
        directory = try TemporaryDirectory()
        monitor = AgentMonitor(clock: MonotonicClock(clock))
        try recordPendingState(of: "providers/p/vehicles/van-7")
    }

    private func recordPendingState(of vehicle: String) throws {
        try directory.write("\(vehicle)\n".utf8, to: "outbox.sqlite.pending-state")
    }

    /// Returns an agent with a pending state that sends over `transport`; none of its tasks run.
    private func makeAgent(
        over transport: ScriptedTransport, log: LogWriter = LogWriter(level: .error, format: .text),
        _ edit: (inout ServiceSetup) -> Void = { _ in }
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
                log: log, monitor: monitor))
    }

    private var isPending: Bool {
        get throws { try FileSystem.entry(at: directory.path("outbox.sqlite.pending-state")) != nil }
    }

    /// Returns a transport that answers with these statuses in turn.
    private func makeTransport(answering statuses: [Int]) -> ScriptedTransport {
        let answers = Locked(statuses)
        return ScriptedTransport { _ throws(HTTPTransportError) in
            let status = answers.withLock { $0.removeFirst() }
            let name = #"{"name": "providers/p/vehicles/van-7"}"#
            return HTTPResponse(status: status, body: status == 200 ? Array(name.utf8) : [])
        }
    }

    @Test func areSentUntilTheyAreAccepted() async throws {
        let transport = makeTransport(answering: [503, 200])
        let agent = try await makeAgent(over: transport)
        async let announcing: Void = agent.announcePendingState()
        for await sleep in clock.sleeps.prefix(1) {
            let active = monitor.snapshot.conditions.active(on: .code(.stateNotSent))?.condition
            #expect(active?.facts == .causedBy(.gatewayError, .answer(status: 503)))
            #expect(active?.cause.description.hasPrefix("providers/p/vehicles/van-7 is not OFFLINE") == true)
            clock.advance(by: sleep)
        }
        await announcing
        #expect(transport.requests.count == 2)
        #expect(monitor.snapshot.conditions.active(on: .code(.stateNotSent)) == nil)
        #expect(try !isPending)
        await agent.close()
    }

    /// An update reports the running vehicle's state, so the old state must not follow any update. But an update of a
    /// vehicle that may be in a private zone reports no state.
    @Test(arguments: [("", 1), (#""privateZones": [{"latitude": 48, "longitude": 11, "radiusMeters": 200}]"#, 2)])
    func endWithAnyDeliveryThatReportsAState(reporting: String, requests: Int) async throws {
        let transport = makeTransport(answering: [503, 200])
        let agent = try await makeAgent(over: transport) { if !reporting.isEmpty { $0.reporting = reporting } }
        async let announcing: Void = agent.announcePendingState()
        for await sleep in clock.sleeps.prefix(1) {
            // A heartbeat or a position from memory delivers nothing from the outbox.
            let repeated = UploadBatch(last: ProgressWatches.stored, lastIsPending: false, past: [])
            monitor.observe(.delivered(repeated, traffic: Traffic(), took: .zero))
            clock.advance(by: sleep)
        }
        await announcing
        #expect(transport.requests.count == requests)
        #expect(try !isPending)
        await agent.close()
    }

    /// After the gateway has been moved, the pending state belongs to the previous van. The first stop deletes it.
    @Test(arguments: ["providers/p/vehicles/van-8", ""], [200, 503])
    func areNotSentForAnotherVehicle(owner: String, status: Int) async throws {
        try recordPendingState(of: owner)
        let transport = ScriptedTransport { _ throws(HTTPTransportError) in
            HTTPResponse(status: status, body: Array(#"{"name": "providers/p/vehicles/van-7"}"#.utf8))
        }
        let agent = try await makeAgent(over: transport)
        await agent.announcePendingState()
        #expect(transport.requests.isEmpty)
        await agent.shutDown()
        if status == 200 { #expect(try !isPending) } else { #expect(try contents == "providers/p/vehicles/van-7\n") }
    }

    /// The log of a stop says which state Fleet Engine hasn't received.
    @Test func areLoggedWithTheirCode() async throws {
        let lines = Locked([String]())
        let log = LogWriter(level: .info, format: .json) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        let agent = try await makeAgent(over: makeTransport(answering: [503]), log: log)
        await agent.shutDown()
        let written = lines.withLock { $0 }
        #expect(written.count == 1 && written[0].contains("\"state_not_sent\""), "\(written)")
        #expect(try isPending)
    }

    private var contents: String {
        get throws {
            let path = directory.path("outbox.sqlite.pending-state")
            return String(decoding: try BoundedFile.contents(of: path, limit: 99), as: UTF8.self)
        }
    }
}

struct NoSource: FixSource {
    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError) {}
}
