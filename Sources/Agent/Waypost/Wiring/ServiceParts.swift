import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import Reporting
import RunRecording
import TimeAndChance
import VehicleAuthorization

/// What the parts of a running service share, and what is made over it of a configuration.
struct ServiceParts: Sendable {
    let log: LogWriter
    let clock: MonotonicClock
    let monitor: AgentMonitor
    let progress: StageProgress
    /// Records the run; `nil` without `--record`.
    let recorder: RunRecorder?
    let history: HistoryKeeper
    private let present = ApproximatePresent(release: Release.date) { UTCTime.synchronizedSystem }
    /// Asked for tokens in place of the configured provider.
    private let ownProvider: (any VehicleAuthorization)?
    private let cachePolicy: CachePolicy
    /// The baud rate that was found, by this run or an earlier one.
    let foundRate: Locked<FoundBaudRate?>

    init(
        log: LogWriter, clock: MonotonicClock, monitor: AgentMonitor, progress: StageProgress, recorder: RunRecorder?,
        history: HistoryKeeper, ownProvider: (any VehicleAuthorization)?, cachePolicy: CachePolicy,
        foundRate: FoundBaudRate?
    ) {
        self.log = log
        self.clock = clock
        self.monitor = monitor
        self.progress = progress
        self.recorder = recorder
        self.history = history
        self.ownProvider = ownProvider
        self.cachePolicy = cachePolicy
        self.foundRate = Locked(foundRate)
    }

    /// The configured receiver.
    func source(_ configuration: Configuration) -> any FixSource {
        configuration.makeSource(
            present: { [present] in present.time }, foundRate: foundRate, progress: progress, tap: recorder)
    }

    /// The configured provider, or the user's own, behind a cache that is empty.
    func authorization(_ configuration: Configuration) throws(AgentError) -> CachedAuthorization {
        let provider: any VehicleAuthorization
        if let ownProvider { provider = ownProvider } else { provider = try configuration.makeProvider(log: log) }
        return configuration.cached(
            provider, clock: ContinuousClock(), log: log, policy: cachePolicy,
            fetched: { [monitor, progress] in
                monitor.countTokenFetch()
                progress.moved(.token)
            }, answered: { [progress] in progress.rests(.token) }, renewal: { [monitor] in monitor.note(renewal: $0) })
    }

    /// Opens the outbox, and puts everything together.
    func agent(
        _ configuration: Configuration, authorization: CachedAuthorization
    ) async throws(AgentError) -> VehicleAgent {
        let isRecording = configuration.readsRecording
        let transport = try configuration.makeTransport()
        var parts = VehicleAgent.Parts(
            source: source(configuration),
            makeDelivery: { $0.makeDelivery(authorization: authorization, transport: transport) },
            expectedFix: isRecording ? nil : UTCTime.system, spacing: isRecording ? .recordedLog : .live,
            latestFix: { isRecording ? nil : Release.latestFix(at: .synchronizedSystem) }, clock: clock, log: log,
            monitor: monitor,
            observers: [progress, history] + (recorder.map { [$0] } ?? [])
                + (isRecording
                    ? []
                    : [
                        ClockComparison(
                            log: log, systemTime: { .system }, isSynchronized: { UTCTime.synchronizedSystem != nil })
                    ]),
            present: isRecording ? nil : present, progress: progress)
        parts.storeGaveUp = { [monitor] in monitor.countStoreRepair() }
        return try await VehicleAgent(configuration, parts)
    }
}
