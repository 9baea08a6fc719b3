import Operations
import FleetEngine
import LinuxPlatform
import Reporting
import SQLiteOutbox
import TimeAndRandomness

/// A reporter of the running service's state, which works even if the outbox doesn't answer.
struct ServiceReporter: Sendable {
    private struct OutboxState {
        var summary = StoreSummary(Ledger())
        var extent: StoreExtent?
    }

    private let configuration: Configuration
    private let agent: VehicleAgent
    /// The name of the token provider for the status report.
    private let provider: String
    private let configurationHash: String
    private let outboxPath: String
    /// The last state that the outbox has returned.
    private let last = Locked(OutboxState())

    /// The maximum time that a report waits for the outbox.
    private static let timeLimit = Duration.seconds(2)

    /// Creates a reporter. `provider` is the name of the app's own token provider; `nil` if the configured one is used.
    init(of agent: VehicleAgent, _ configuration: Configuration, provider: String?) {
        self.agent = agent
        self.configuration = configuration
        self.provider = provider ?? configuration.authorization.providerDescription
        configurationHash = configuration.hash
        outboxPath = FileSystem.destination(of: configuration.outbox.path)
    }

    func report() async -> StatusReport {
        let outbox = await outboxState()  // first, because it may raise a condition that the snapshot must contain
        return StatusReport(
            vehicle: configuration.vehicle.description, snapshot: agent.monitor.snapshot, outbox: outbox.summary,
            durability: configuration.outbox.durability,
            context: StatusReport.HostContext(
                tokenProvider: provider, reporting: configuration.reporting.schedule,
                configurationHash: configurationHash, outboxPath: outboxPath, extent: outbox.extent,
                residentBytes: ResidentMemory.bytes, systemTime: .system),
            at: agent.clock.now)
    }

    /// Returns the state of the outbox. If the outbox fails or hangs, returns its last known state; the failure is
    /// reported elsewhere.
    private func outboxState() async -> OutboxState {
        let call = AbandonableCall<(summary: StoreSummary?, extent: StoreExtent?)>()
        let found = await call.run(within: Self.timeLimit, on: agent.clock) { [agent] in
            (summary: try? await agent.summary(), extent: try? await agent.extent())
        }
        if let extent = found?.extent { agent.monitor.note(extent) }
        return last.withLock { last in
            last.summary = found?.summary ?? last.summary
            last.extent = found?.extent ?? last.extent
            return last
        }
    }
}
