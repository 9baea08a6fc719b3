import HTTPMessages
import LinuxPlatform
import LocationReporting
import RunRecording
import TimeAndChance
import VehicleAuthorization

/// What stays for the whole run of the service, and what is made over it of a configuration, at the start and by each
/// reload.
struct ServiceParts: Sendable {
    let log: LogWriter
    let clock: MonotonicClock
    let monitor: AgentMonitor
    let progress: StageProgress
    /// It keeps nothing until a recording is asked for.
    let recorder: RunRecorder
    let history: HistoryKeeper
    private let present = ApproximatePresent(release: Release.date) { UTCTime.synchronizedSystem }
    /// Asked for tokens in place of the configured provider.
    private let ownProvider: (any VehicleAuthorization)?
    private let cachePolicy: CachePolicy

    init(
        log: LogWriter, clock: MonotonicClock, monitor: AgentMonitor, progress: StageProgress, isRecorded: Bool,
        history: HistoryKeeper, ownProvider: (any VehicleAuthorization)?, cachePolicy: CachePolicy
    ) {
        (self.log, self.clock, self.monitor) = (log, clock, monitor)
        (self.progress, self.history) = (progress, history)
        (self.ownProvider, self.cachePolicy) = (ownProvider, cachePolicy)
        recorder = RunRecorder(clock: clock, progress: progress, isIdle: !isRecorded)
    }

    /// The configured receiver.
    func source(_ configuration: Configuration) -> any FixSource {
        configuration.makeSource(present: { [present] in present.time }, tap: recorder)
    }

    /// The configured provider, or the user's own, behind a cache that is empty.
    func authorization(_ configuration: Configuration) throws(AgentError) -> CachedAuthorization {
        var provider: any VehicleAuthorization
        if let ownProvider { provider = ownProvider } else { provider = try configuration.makeProvider(log: log) }
        provider = RecordingAuthorization(provider, recorder: recorder)
        return configuration.cached(
            provider, clock: ContinuousClock(), log: log, policy: cachePolicy,
            jitter: { [recorder] in recorder.draw(of: .token) },
            fetched: { [monitor, progress] in
                monitor.countTokenFetch()
                progress.moved(.token)
            }, answered: { [progress] in progress.rests(.token) }, renewal: { [monitor] in monitor.note(renewal: $0) })
    }

    /// A connection to Fleet Engine that is not used yet.
    func transport(_ configuration: Configuration) throws(AgentError) -> any HTTPTransport {
        RecordingTransport(try configuration.makeTransport(), vehicle: configuration.vehicle, recorder: recorder)
    }

    /// Opens the outbox, and puts everything together.
    func agent(
        _ configuration: Configuration, authorization: CachedAuthorization
    ) async throws(AgentError) -> VehicleAgent {
        let isRecording = configuration.readsRecording
        var parts = VehicleAgent.Parts(
            source: source(configuration), authorization: authorization, transport: try transport(configuration),
            expectedFix: isRecording ? nil : UTCTime.system, spacing: isRecording ? .recordedLog : .live,
            latestFix: { isRecording ? nil : Release.latestFix(at: .synchronizedSystem) }, clock: clock, log: log,
            monitor: monitor,
            observers: [progress, recorder, history]
                + (isRecording
                    ? []
                    : [
                        ClockComparison(
                            log: log, systemTime: { .system }, isSynchronized: { UTCTime.synchronizedSystem != nil })
                    ]),
            present: isRecording ? nil : present, progress: progress)
        recorder.keepPrivate(
            in: configuration.reporting.privateZones, hasSwitch: configuration.privateWhen != nil)
        parts.storeGaveUp = { [monitor, recorder] in
            monitor.countStoreRepair()
            recorder.note(.repair(stage: Stage.store.rawValue, number: 1))
        }
        parts.jitter = { [recorder] in recorder.draw(of: .upload) }
        return try await VehicleAgent(configuration, parts)
    }
}
