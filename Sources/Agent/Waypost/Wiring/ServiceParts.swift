import Operations
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import Reporting
import RunRecording
import TimeAndRandomness
import VehicleAuthorization

/// The components that a run of the service shares, such as its clock, log and monitor.
struct ServiceParts: Sendable {
    let clock: MonotonicClock
    let log: LogWriter
    let monitor: AgentMonitor
    let progress: StageProgress
    /// The recorder of the run; `nil` if the run isn't recorded.
    let recorder: RunRecorder?
    let history: HistoryKeeper
    /// The baud rate that a search in this run or the previous one has found.
    let foundRate: Locked<FoundBaudRate?>
    private let present = TimeEstimator(release: Release.date) { UTCTime.synchronizedSystem }

    /// Creates the components for a run. `last` is the handover from the previous run.
    init(_ configuration: Configuration, isRecorded: Bool, after last: Handover?) {
        let clock = MonotonicClock(ContinuousClock())
        let history = HistoryKeeper(clock: clock)
        let recorder = isRecorded ? RunRecorder(now: { .system }) : nil
        recorder?.setPrivacy(
            zones: configuration.reporting.privateZones, hasSwitch: configuration.privateModeFile != nil)
        log = LogWriter(
            level: configuration.log.level, format: configuration.log.format, listensToDebug: isRecorded
        ) { level, text, failure in
            if level < .debug { history.note(level, text, failure) }
            recorder?.record(logLine: "\(level.rawValue): \(text)")
        }
        monitor =
            configuration.readsRecording
            ? AgentMonitor(clock: clock, log: log)
            : AgentMonitor(
                clock: clock, log: log, systemTime: { .system }, synchronizedTime: { .synchronizedSystem })
        monitor.note(loadedAt: last?.loadedAt ?? .system)
        progress = StageProgress(ProgressWatch(timeouts: configuration.stageTimeouts))
        foundRate = Locked(last?.baudRate)
        self.clock = clock
        self.history = history
        self.recorder = recorder
    }

    /// Returns an empty token cache in front of `ownProvider`. If that is `nil`, the configured provider is used.
    func makeAuthorization(
        _ configuration: Configuration, ownProvider: (any VehicleAuthorization)?, policy: CachePolicy
    ) throws(AgentError) -> CachedAuthorization {
        let provider: any VehicleAuthorization
        if let ownProvider {
            provider = ownProvider
        } else {
            let runID = String(UInt64.random(in: .min ... .max), radix: 16)
            provider = try configuration.makeProvider(
                toleratesFiles: !configuration.readsRecording, runID: runID
            ) { [monitor] in monitor.note($0) }
        }
        return configuration.makeTokenCache(
            for: provider, clock: ContinuousClock(), policy: policy,
            report: { [monitor, progress] event in
                monitor.note(event)
                switch event {
                case .providerAsked: progress.reportProgress(of: .token)
                case .providerAnswered: progress.markIdle(.token)
                case .renewal, .warnings: break
                }
            })
    }

    /// Opens the outbox, and returns an agent that connects it to the receiver and the delivery.
    func makeAgent(
        _ configuration: Configuration, authorization: CachedAuthorization
    ) async throws(AgentError) -> VehicleAgent {
        let isRecording = configuration.readsRecording
        let transport = try configuration.makeTransport(toleratesFiles: !isRecording)
        var parts = VehicleAgent.Parts(
            source: configuration.makeSource(
                present: { [present] in present.time }, foundRate: foundRate, progress: progress, tap: recorder),
            makeDelivery: { $0.makeDelivery(authorization: authorization, transport: transport) },
            expectedFix: isRecording ? nil : UTCTime.system, spacing: isRecording ? .recordedLog : .live,
            latestFix: { isRecording ? nil : Release.latestFixTime(at: .synchronizedSystem) }, clock: clock, log: log,
            monitor: monitor, observers: observers(for: configuration),
            present: isRecording ? nil : present,
            progress: progress)
        parts.onStoreBypass = { [monitor] in monitor.countStoreBypass() }
        return try await VehicleAgent(configuration, parts)
    }

    private func observers(for configuration: Configuration) -> [any ReportingObserver] {
        let zones = DistantZones(configuration.reporting.privateZones, monitor: monitor)
        return [progress, history, zones] + [recorder].compactMap { $0 }
    }
}
