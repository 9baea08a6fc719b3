import Operations
import Conditions
import FleetEngine
import LinuxPlatform
import ReportedText
package import Reporting
package import SQLiteOutbox
package import TimeAndChance

/// One vehicle, wired: its outbox and its reporter over real adapters.
package struct VehicleAgent: Sendable {
    /// What differs between the service, a replay and the demo.
    package struct Parts: Sendable {
        package var source: any FixSource
        /// Makes the delivery of the configuration's vehicle.
        package var makeDelivery: @Sendable (Configuration) -> any Delivery
        /// About the present, by whatever clock there is: no fix is from before the release then. `nil` for recorded
        /// logs, which keep their dates.
        package var expectedFix: UTCTime?
        /// What besides its own time says whether a fix is due.
        package var spacing: RequestSpacing
        /// The latest time of fix that can be true, when anything trustworthy knows the present.
        package var latestFix: @Sendable () -> UTCTime?
        package var clock: MonotonicClock
        package var log: LogWriter
        package var monitor: AgentMonitor
        package var observers: [any ReportingObserver]
        /// Learns of the last good time of fix that the outbox keeps; `nil` for recorded logs.
        package var present: ApproximatePresent?
        /// Where the service's progress is watched. The outbox answers in time then, and need not be open at the start:
        /// a driving vehicle must be visible.
        package var progress: StageProgress?
        /// Called each time that the outbox is bypassed until it answers.
        package var storeGaveUp: @Sendable () -> Void = {}

        package init(
            source: any FixSource, makeDelivery: @escaping @Sendable (Configuration) -> any Delivery,
            expectedFix: UTCTime?, spacing: RequestSpacing, latestFix: @escaping @Sendable () -> UTCTime?,
            clock: MonotonicClock, log: LogWriter, monitor: AgentMonitor, observers: [any ReportingObserver] = [],
            present: ApproximatePresent? = nil, progress: StageProgress? = nil
        ) {
            self.source = source
            self.makeDelivery = makeDelivery
            self.expectedFix = expectedFix
            self.spacing = spacing
            self.latestFix = latestFix
            self.clock = clock
            self.log = log
            self.monitor = monitor
            self.observers = observers
            self.present = present
            self.progress = progress
        }
    }

    package let monitor: AgentMonitor
    let clock: MonotonicClock
    let log: LogWriter
    private let vehicle: VehicleName
    private let presenceOnStop: Presence
    private let outbox: TimeLimitedOutbox<SQLiteOutbox>
    /// Whether the outbox was not open when this was made.
    private let opensLate: Bool
    private let pendingState: PendingState
    let reporter: Reporter
    private let source: any FixSource
    /// Whether there is a private switch to be watched.
    private let hasPrivateSwitch: Bool
    private let observer: any ReportingObserver
    private let progress: StageProgress?

    /// Opens the outbox and puts everything together; nothing moves before `run`.
    package init(_ configuration: Configuration, _ parts: Parts) async throws(AgentError) {
        log = parts.log
        monitor = parts.monitor
        clock = parts.clock
        progress = parts.progress
        vehicle = configuration.vehicle
        presenceOnStop = Presence(configuration.stateOnStop)
        hasPrivateSwitch = configuration.privateModeFile != nil
        outbox = TimeLimitedOutbox(
            SQLiteOutbox(configuration.outbox(reportingTo: parts)), clock: parts.clock, progress: parts.progress,
            gaveUp: parts.storeGaveUp)
        do throws(OutboxError) {
            try await outbox.open()
            opensLate = false
        } catch {
            // A recorded log can wait: no vehicle has to be visible by it.
            guard parts.progress != nil, !configuration.readsRecording, error.code != .locked else {
                throw AgentError(.unavailable, error.description)
            }
            opensLate = true
            monitor.raise(Condition(error, isStoring: true), on: .storing)
        }
        pendingState = PendingState(of: configuration.vehicle, besideOutbox: configuration.outbox.path)
        // An outbox that fails here says so at its first use.
        let newest = try? await outbox.next(BatchRequest(maximumPastLocations: 0, withBacklog: false)).newest?.update
        if let newest { parts.present?.note(lastGood: newest.timeOfFix) }
        observer = ReportingObservers(
            [monitor, EventLog(log: log, clock: parts.clock, logsFirstDelivery: parts.progress != nil)]
                + parts.observers
                + [parts.present].compactMap { $0 })
        source = parts.source
        reporter = Self.reporter(configuration, parts, outbox: outbox, newest: newest, observer: observer)
    }

    /// The reporter over `outbox`, which holds `newest`.
    static func reporter(
        _ configuration: Configuration, _ parts: Parts, outbox: any Outbox, newest: LocationUpdate?,
        observer: any ReportingObserver
    ) -> Reporter {
        let reporting = configuration.reporting
        let settings = ReportingSettings(
            plausibility: Plausibility(
                earliest: parts.expectedFix.map { _ in Release.date }, expected: parts.expectedFix,
                newest: parts.expectedFix.flatMap { _ in newest }),  // a recorded log may be older
            shape: ShapePoints(meters: reporting.trackToleranceMeters),
            policy: ReportingPolicy(reporting.policy, heartbeat: reporting.heartbeat), spacing: parts.spacing,
            privateMode: PrivateMode(zones: reporting.privateZones), upload: configuration.uploadSettings)
        return Reporter(
            settings, outbox: outbox, delivery: parts.makeDelivery(configuration),
            privateSwitch: configuration.privateSwitch, latestTime: parts.latestFix, clock: parts.clock,
            jitter: { Double.random(in: 0...1) }, observer: observer)
    }

    /// Runs until the source has ended and everything is delivered, or until cancelled.
    package func run() async throws(AgentError) {
        let failure = await withDiscardingTaskGroup(returning: FixSourceError?.self) { group in
            group.addTask { await maintainOutbox() }
            await reporter.lookAtSwitch()  // what waits may go out before the first fix
            if progress != nil {
                if hasPrivateSwitch { group.addTask { await watchPrivateSwitch() } }
                group.addTask { await announcePendingState() }
            }
            var failure: FixSourceError?
            do throws(FixSourceError) { try await reporter.run(source) } catch { failure = error }
            group.cancelAll()
            return failure
        }
        if let failure { throw AgentError(.inputData, "\(failure)") }
    }

    /// Each fix sees for itself how the switch stands; this is for the time in which none comes.
    private func watchPrivateSwitch() async {
        while !Task.isCancelled {
            await reporter.lookAtSwitch(isWatching: true)
            await clock.sleep(for: .seconds(1))
        }
    }

    /// Lets the outbox do its periodic work: writing what has waited, carrying out what tools have asked for.
    private func maintainOutbox() async {
        var watch: EvictionWatch?
        var waitsForOpening = opensLate
        var hasEmptiedLog = false
        while !Task.isCancelled {
            do {
                let summary = try await outbox.summary()
                if waitsForOpening {
                    waitsForOpening = false
                    monitor.clear(.storing)
                }
                let news = watch?.conditions(of: summary.evictions) ?? []
                for condition in news { monitor.raise(condition, on: .one(condition.code), for: EvictionWatch.memory) }
                watch = watch ?? EvictionWatch(since: summary.evictions)
                monitor.note(quarantined: summary.quarantined.count)
                if try await outbox.maintain() { await reporter.requeued() }
                hasEmptiedLog = try await emptyLogIfPrivate(after: hasEmptiedLog)
                await reporter.storeAgain()
            } catch {
                observer.observe(.outboxFailed(error))
            }
            await clock.sleep(for: SQLiteOutbox.maintenanceInterval)
        }
    }

    /// Empties the outbox's log once in each private time, because delivered positions would stay in it. Returns
    /// whether that has been done in the present one.
    func emptyLogIfPrivate(after isDone: Bool) async throws(OutboxError) -> Bool {
        guard monitor.snapshot.privateSince != nil else { return false }
        return isDone ? true : try await outbox.emptyLog()
    }

    /// The account of every update ever accepted, with reasons and times.
    package func summary() async throws(AgentError) -> StoreSummary {
        do { return try await outbox.summary() } catch { throw AgentError(.unavailable, error.description) }
    }

    /// What the outbox takes on the disk, and since when something waits in it.
    func extent() async throws(AgentError) -> StoreExtent {
        do { return try await outbox.extent() } catch { throw AgentError(.unavailable, error.description) }
    }

    /// Stores every update. Returns why some are in memory only, or `nil`.
    func reasonForUnstored() async -> String? {
        await reporter.storeAgain()
        do { _ = try await outbox.summary() } catch { return "\(error)" }
        return await reporter.hasStoredAll ? nil : "the outbox has not accepted them yet"
    }

    /// Tells Fleet Engine that the vehicle has stopped, unless `isSilent`, and closes the outbox, as far as `Stopping`
    /// has time for it. With `keepsLocks`, its locks stay held.
    ///
    /// A state that could not be sent stays pending: the next start sends it, unless its first update comes before.
    func shutDown(isSilent: Bool = false, keepsLocks: Bool = false) async {
        var isPending: Bool?
        if vehicle.service == .onDemandTrips, !isSilent {
            let presence = presenceAtEnd
            let telling = AbandonableCall<Bool>()
            let isTold =
                await telling.run(within: Stopping.longestFarewell, on: clock) {
                    await announce(presence)
                } ?? false
            if !isTold {
                log.write(.warning, "\(vehicle) could not be set \(presence.words); the next start will")
            }
            isPending = !isTold
        }
        if keepsLocks { LockHandover.keepLocks() }
        let closing: Void? = await AbandonableCall().run(within: Stopping.longestClosing, on: clock) { [isPending] in
            await close()
            if let isPending { await pendingState.set(isPending, log: log) }
        }
        if closing == nil { log.write(.error, "the outbox is not closed: it does not answer; check its disk (dmesg)") }
    }

    /// Reports that this machine has a route to the network again.
    package func networkReturned() async {
        log.write(.debug, "the network has a new address or route")
        await reporter.networkReturned()
    }

    /// Sends the state that the last stop left pending, until that succeeds or any delivery has carried a newer one.
    func announcePendingState() async {
        guard vehicle.service == .onDemandTrips, await pendingState.isPending else { return }
        var level = LogLevel.warning
        var pause = Duration.seconds(30)
        while !Task.isCancelled {
            if monitor.snapshot.delivery.last != nil, await reporter.reportsPresence { break }
            if await announce(presenceAtEnd, complainingAt: level) { break }
            level = .debug  // the updates' own trouble is reported beside it
            await clock.sleep(for: pause)
            pause = min(pause * 2, .seconds(300))
        }
        if !Task.isCancelled { await pendingState.set(false, log: log) }
    }

    /// A private vehicle is offline, whatever is told of others.
    private var presenceAtEnd: Presence {
        monitor.snapshot.privateSince == nil ? presenceOnStop : .offline
    }

    /// Whether the service has accepted the presence.
    private func announce(
        _ presence: Presence, complainingAt level: LogLevel = .warning
    ) async -> Bool {
        let condition: Condition
        do throws(DeliveryFault) {
            guard let problem = Condition(try await reporter.announce(presence: presence).outcome) else { return true }
            condition = problem
        } catch { condition = Condition(error) }
        if !Task.isCancelled { log.write(level, "vehicle state not sent: \(condition.line)", code: condition.code) }
        return false
    }

    /// Writes what is still in memory and releases the outbox.
    package func close() async {
        await reporter.storeAgain()  // closing says what is wrong
        do { try await outbox.close() } catch { log.write(.error, "closing the outbox: \(error)") }
    }
}

extension Configuration {
    /// What the outbox is set up to do: it reports to log and monitor, and holds the updates of one vehicle only.
    fileprivate func outbox(reportingTo parts: VehicleAgent.Parts) -> OutboxConfiguration {
        var outbox = outbox
        outbox.reportRecovery = { parts.log.write(.error, "\($0)") }
        outbox.reportWarning = { warning, cause in
            let cause = ReportedText(cause, limit: ReportedText.longestSentence)
            parts.monitor.raise(Condition(warning.code, cause), on: warning.topic)
        }
        outbox.reportWarningEnd = { warning, _ in parts.monitor.clear(warning.topic) }
        outbox.uptime = { parts.clock.now }
        let owner = OutboxVehicle(besideOutbox: outbox.path)
        outbox.admit = { [vehicle] ledger throws(OutboxError) in
            try owner.adopt(vehicle, ledger) { parts.log.write(.warning, $0) }
        }
        return outbox
    }
}

extension OutboxWarning {
    var code: ConditionCode {
        switch self {
        case .olderStore: .outboxTooOld
        case .removedLog: .outboxLogRemoved
        case .longLog, .pinnedLog: .outboxLogTooLong
        case .noReserve: .outboxWithoutReserve
        }
    }

    /// Each warning has a topic of its own, so that the end of one leaves the others active.
    var topic: ActiveConditions.Topic { self == .pinnedLog ? .logReader : .one(code) }
}
