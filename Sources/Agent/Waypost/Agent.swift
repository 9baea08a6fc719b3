import FleetEngine
import FoundationEssentials
import GNSS
import GNSSReceiver
import HTTPMessages
import HTTPService
import LinuxPlatform
import LocationReporting
public import VehicleAuthorization

/// The service: one vehicle's position, reported from a receiver to Fleet Engine until told to stop.
///
/// ```swift
/// let configuration = try Configuration(file: "/etc/waypost/config.json")
/// try await Agent(configuration).run()
/// ```
///
/// Give `authorization` to use a provider of your own in place of the configured one; it is asked at every upload,
/// through a cache that keeps the rules of the Driver SDK.
public struct Agent: Sendable {
    private let configuration: Configuration
    private let authorization: (any VehicleAuthorization)?
    private let recordingFolder: String?
    private let notification: ServiceNotification
    private let watchdogInterval: Duration?

    /// How long the vehicle's last state may take on stop; the whole stop takes at most 5 s.
    private static let stopDeadline = Duration.seconds(3)

    /// An agent for `configuration`; nothing is opened before `run`.
    ///
    /// `authorization` is asked for tokens in place of the configured provider; in `recordingFolder` the receiver's
    /// output is kept, 32 MiB at most.
    public init(
        _ configuration: Configuration, authorization: (any VehicleAuthorization)? = nil,
        recordingFolder: String? = nil
    ) {
        let environment = ProcessInfo.processInfo.environment
        self.configuration = configuration
        self.authorization = authorization
        self.recordingFolder = recordingFolder
        notification = ServiceNotification(socketPath: environment["NOTIFY_SOCKET"])
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap(Int64.init).map { .microseconds($0) / 2 }
    }

    /// Reports until the task is cancelled, then sends the vehicle's last state and closes the outbox.
    ///
    /// - Throws: what keeps the service from starting; a missing receiver, network or token never does.
    public func run() async throws(AgentError) {
        let log = LogWriter(level: configuration.log.level, format: configuration.log.format)
        let clock = MonotonicClock(ContinuousClock())
        let monitor = AgentMonitor(clock: clock)
        let status = try startStatusService()
        let agent = try await makeVehicleAgent(log: log, clock: clock, monitor: monitor)
        let report = reporter(of: agent, clock: clock)
        await status.routes.set(StatusRoutes(report: report))
        tell(["READY=1", "STATUS=started"], log)
        log.write(
            .info, "waypost \(Release.version) reports \(configuration.vehicle); status at \(status.service.address)")

        var failure: AgentError?
        do throws(AgentError) {
            try await withServices(status: status.service, log: log, clock: clock, report: report, agent)
        } catch { failure = error }

        tell(["STOPPING=1", "STATUS=stopping"], log)
        // The task is cancelled by now; the last state and the closing of the outbox are not to be.
        await Task { await agent.windUp(within: Self.stopDeadline) }.value
        log.write(.info, "stopped")
        if let failure { throw failure }
    }

    private func startStatusService() throws(AgentError) -> (service: HTTPService, routes: StatusResponder) {
        let routes = StatusResponder()
        do {
            let service = try HTTPService(listeningOn: configuration.status.address) { await routes.answer($0) }
            return (service, routes)
        } catch {
            throw AgentError(.unavailable, "status.listen: \(error)")
        }
    }

    private func makeVehicleAgent(
        log: LogWriter, clock: MonotonicClock, monitor: AgentMonitor
    ) async throws(AgentError) -> VehicleAgent {
        let fetched: @Sendable () -> Void = { monitor.countTokenFetch() }
        let provider: any VehicleAuthorization
        if let authorization {
            provider = configuration.cached(authorization, clock: ContinuousClock(), log: log, fetched: fetched)
        } else {
            provider = try configuration.makeAuthorization(clock: ContinuousClock(), log: log, fetched: fetched)
        }
        let isRecording = configuration.readsRecording
        let recording = recordingFolder.map { folder in
            RecordingSettings(folder: folder) { log.write(.warning, $0) }
        }
        let present = ApproximatePresent(release: Release.date) { UTCTime.synchronizedSystem }
        let parts = VehicleAgent.Parts(
            source: configuration.makeSource(present: { present.time }, recording: recording), authorization: provider,
            transport: try configuration.makeTransport(), earliestFix: isRecording ? nil : Release.date,
            expectedFix: isRecording ? nil : UTCTime.system,
            latestFix: { isRecording ? nil : UTCTime.latestPlausible }, clock: clock, log: log, monitor: monitor,
            observers: isRecording ? [] : [ClockComparison(log: log) { UTCTime.system }],
            present: isRecording ? nil : present, startsWithoutOutbox: true)
        return try await VehicleAgent(configuration, parts)
    }

    private func reporter(
        of agent: VehicleAgent, clock: MonotonicClock
    ) -> @Sendable () async -> StatusReport? {
        let vehicle = configuration.vehicle.description
        let last = Locked(Ledger())
        return {
            // While the outbox fails, what it last said; why it fails is told beside it.
            if let ledger = try? await agent.ledger() { last.withLock { $0 = ledger } }
            let ledger = last.withLock { $0 }
            return StatusReport(vehicle: vehicle, snapshot: agent.monitor.snapshot, ledger: ledger, at: clock.now)
        }
    }

    /// Runs the pipeline with the status service and the watchdog beside it; ends when the pipeline does.
    private func withServices(
        status: HTTPService, log: LogWriter, clock: MonotonicClock,
        report: @escaping @Sendable () async -> StatusReport?, _ agent: VehicleAgent
    ) async throws(AgentError) {
        let failure = await withTaskGroup(of: Void.self, returning: AgentError?.self) { group in
            group.addTask { await status.run() }
            group.addTask { await agent.tellOwedState() }
            group.addTask { await watchNetwork(log: log, agent) }
            group.addTask {
                // Once the service is up, and once more when connections and tokens have been set up.
                ResidentCode.giveBack()
                await clock.sleep(for: .seconds(30))
                ResidentCode.giveBack()
            }
            group.addTask { await feedWatchdog(log: log, clock: clock, report: report, monitor: agent.monitor) }
            var failure: AgentError?
            do throws(AgentError) { try await agent.run() } catch { failure = error }
            group.cancelAll()
            return failure
        }
        if let failure { throw failure }
    }

    /// Passes on the kernel's word that there is a new way out; without it delivery goes on by its own attempts.
    private func watchNetwork(log: LogWriter, _ agent: VehicleAgent) async {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup { group in
            group.addTask {
                do throws(SystemError) { try await NetworkWatch().run { arrival.yield() } } catch {
                    log.write(.warning, "\(error); the network's return is found by retries alone")
                }
                arrival.finish()
            }
            for await _ in arrivals { await agent.networkReturned() }
        }
    }

    /// Feeds the watchdog while the outbox answers and no request is overdue: a stage that hangs starves it.
    private func feedWatchdog(
        log: LogWriter, clock: MonotonicClock, report: @Sendable () async -> StatusReport?, monitor: AgentMonitor
    ) async {
        guard notification.isEnabled else { return }
        let overdue = configuration.upload.timeout + .seconds(30)
        while !Task.isCancelled {
            let isStuck = monitor.snapshot.requestSince.map { clock.now - $0 > overdue } ?? false
            if !isStuck, let report = await report() {
                tell(["WATCHDOG=1", "STATUS=\(report.headline)"], log)
            }
            await clock.sleep(for: min(watchdogInterval ?? .seconds(10), .seconds(10)))
        }
    }

    private func tell(_ assignments: [String], _ log: LogWriter) {
        do { try notification.send(assignments) } catch { log.write(.warning, "service manager: \(error)") }
    }
}
