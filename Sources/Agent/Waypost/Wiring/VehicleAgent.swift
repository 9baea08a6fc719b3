import Operations
import Conditions
import FleetEngine
import LinuxPlatform
import ReportedText
package import Reporting
package import SQLiteOutbox
package import TimeAndRandomness

/// The outbox and the reporter of one vehicle, connected to the receiver, the disk and Fleet Engine.
package struct VehicleAgent: Sendable {
    /// The components of an agent that differ between the service, a replay and the demo.
    package struct Parts: Sendable {
        package var source: any FixSource
        /// A function that creates the delivery to Fleet Engine for the configuration's vehicle.
        package var makeDelivery: @Sendable (Configuration) -> any Delivery
        /// The approximate current time, from a clock that may be wrong; `nil` for recorded logs, which keep their
        /// dates. Unless it is `nil`, fixes dated before Waypost's release are rejected.
        package var expectedFix: UTCTime?
        /// The rule for spacing requests, which differs between live vehicles and recorded logs.
        package var spacing: RequestSpacing
        /// A function that returns the maximum time that a fix can have; `nil` for recorded logs.
        package var latestFix: @Sendable () -> UTCTime?
        package var clock: MonotonicClock
        package var log: LogWriter
        package var monitor: AgentMonitor
        package var observers: [any ReportingObserver]
        /// The estimate of the current time, which starts from the time of the outbox's newest update; `nil` for
        /// recorded logs.
        package var present: TimeEstimator?
        /// The progress of the service's stages; `nil` outside the service. With a progress object, calls to the outbox
        /// have a time limit. The agent then also starts without the outbox, so that a driving vehicle is always
        /// visible.
        package var progress: StageProgress?
        /// A function that is called each time the outbox exceeds its time limit and is bypassed.
        package var onStoreBypass: @Sendable () -> Void = {}

        package init(
            source: any FixSource, makeDelivery: @escaping @Sendable (Configuration) -> any Delivery,
            expectedFix: UTCTime?, spacing: RequestSpacing, latestFix: @escaping @Sendable () -> UTCTime?,
            clock: MonotonicClock, log: LogWriter, monitor: AgentMonitor, observers: [any ReportingObserver] = [],
            present: TimeEstimator? = nil, progress: StageProgress? = nil
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
    /// Whether the outbox couldn't be opened at the start.
    private let couldNotOpen: Bool
    private let pendingState: PendingState
    let reporter: Reporter
    private let source: any FixSource
    private let hasPrivateSwitch: Bool
    private let observer: any ReportingObserver
    private let progress: StageProgress?

    /// Opens the outbox and connects the components. They start working in `run`.
    package init(_ configuration: Configuration, _ parts: Parts) async throws(AgentError) {
        log = parts.log
        monitor = parts.monitor
        clock = parts.clock
        progress = parts.progress
        vehicle = configuration.vehicle
        presenceOnStop = Presence(configuration.stateOnStop)
        hasPrivateSwitch = configuration.privateModeFile != nil
        outbox = TimeLimitedOutbox(
            SQLiteOutbox(configuration.outboxConfiguration(reportingTo: parts)), clock: parts.clock,
            progress: parts.progress,
            onBypass: parts.onStoreBypass)
        do throws(OutboxError) {
            try await outbox.open()
            couldNotOpen = false
        } catch {
            // A replay can be repeated later, so it fails at this point. Only a live vehicle must be visible without
            // the outbox.
            guard parts.progress != nil, !configuration.readsRecording, error.code != .locked else {
                throw AgentError(.unavailable, error.description, condition: Condition(error).code)
            }
            couldNotOpen = true
            monitor.raise(Condition(error, isStoring: true), on: .storing)
        }
        pendingState = PendingState(of: configuration.vehicle, forOutbox: configuration.outbox.path)
        // A failure is ignored here, because the next use of the outbox reports it.
        let newest = try? await outbox.nextUpload(for: BatchRequest(maximumPastLocations: 0, withBacklog: false))
            .newest?.update
        if let newest { parts.present?.note(acceptedFixAt: newest.timeOfFix) }
        observer = ReportingObservers(
            [monitor, EventLog(log: log, clock: parts.clock, logsFirstDelivery: parts.progress != nil)]
                + parts.observers
                + [parts.present].compactMap { $0 })
        source = parts.source
        reporter = Self.makeReporter(configuration, parts, outbox: outbox, newest: newest, observer: observer)
    }

    /// Returns a reporter that uses `outbox`. `newest` is the newest update in the outbox.
    package static func makeReporter(
        _ configuration: Configuration, _ parts: Parts, outbox: any Outbox, newest: LocationUpdate?,
        observer: any ReportingObserver
    ) -> Reporter {
        let reporting = configuration.reporting
        let settings = ReportingSettings(
            plausibility: Plausibility(
                earliest: parts.expectedFix.map { _ in Release.date }, expected: parts.expectedFix,
                // `nil` for a recorded log, which may predate the newest update.
                newest: parts.expectedFix.flatMap { _ in newest }),
            shape: ShapePoints(toleranceMeters: reporting.trackToleranceMeters),
            policy: ReportingPolicy(reporting.policy, heartbeat: reporting.heartbeat), spacing: parts.spacing,
            privateMode: PrivateMode(zones: reporting.privateZones), upload: configuration.uploadSettings)
        return Reporter(
            settings, outbox: outbox, delivery: parts.makeDelivery(configuration),
            privateSwitch: configuration.privateSwitch, latestTime: parts.latestFix, clock: parts.clock,
            jitter: { Double.random(in: 0...1) }, observer: observer)
    }

    /// Runs until the source has ended and every update is delivered, or until the task is cancelled.
    package func run() async throws(AgentError) {
        let failure = await withDiscardingTaskGroup(returning: FixSourceError?.self) { group in
            group.addTask { await maintainOutbox() }
            await reporter.readPrivateSwitch()  // because pending updates may be sent before the first fix
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

    /// Reads the private switch every second. It is also read at each fix, but fixes may be absent for a long time.
    private func watchPrivateSwitch() async {
        while !Task.isCancelled {
            await reporter.readPrivateSwitch(isPolled: true)
            await clock.sleep(for: .seconds(1))
        }
    }

    /// Maintains the outbox periodically: it writes delayed updates and carries out requests from tools such as
    /// `waypost outbox`.
    private func maintainOutbox() async {
        var watch: EvictionWatch?
        var waitsForOpening = couldNotOpen
        var hasEmptiedLog = false
        while !Task.isCancelled {
            do {
                let (summary, hasRequeued) = try await outbox.maintain()
                if waitsForOpening {
                    waitsForOpening = false
                    monitor.clear(.storing)
                }
                let news = watch?.newConditions(for: summary.evictions) ?? []
                for condition in news {
                    monitor.raise(condition, on: .code(condition.code), for: EvictionWatch.displayTime)
                }
                watch = watch ?? EvictionWatch(since: summary.evictions)
                monitor.note(quarantined: summary.quarantined.count)
                if hasRequeued { await reporter.notifyOfRequeue() }
                hasEmptiedLog = try await truncateLogIfPrivate(unless: hasEmptiedLog)
                await reporter.retryStoring()
            } catch {
                observer.observe(.outboxFailed(error))
            }
            await clock.sleep(for: SQLiteOutbox.maintenanceInterval)
        }
    }

    /// Truncates the outbox's write-ahead log once in each private period, because the log would keep positions that
    /// have already been delivered. Returns whether the log has been truncated in the current private period.
    func truncateLogIfPrivate(unless isDone: Bool) async throws(OutboxError) -> Bool {
        guard monitor.snapshot.privateSince != nil else { return false }
        return isDone ? true : try await outbox.truncateLog()
    }

    /// Returns a summary of the outbox: its ledger, its evictions and its quarantined updates.
    package func summary() async throws(AgentError) -> StoreSummary {
        do { return try await outbox.summary() } catch { throw AgentError(.unavailable, error.description) }
    }

    /// Returns the outbox's size on the disk, and the age of its pending updates.
    func extent() async throws(AgentError) -> StoreExtent {
        do { return try await outbox.extent() } catch { throw AgentError(.unavailable, error.description) }
    }

    /// Tries to store the updates that are only in memory. Returns whether all updates are stored.
    func storeAll() async -> Bool {
        await reporter.retryStoring()
        guard (try? await outbox.summary()) != nil else { return false }
        return await reporter.hasStoredAll
    }

    /// Reports to Fleet Engine that the vehicle has stopped, and closes the outbox. `StopTimeout` limits the time for
    /// each step.
    ///
    /// If the report fails, the state stays pending. The next start sends it, unless an update reports a newer state
    /// first.
    ///
    /// - Parameters:
    ///   - isSilent: whether to skip the report to Fleet Engine.
    ///   - keepsLocks: whether this process keeps the outbox's locks for the next run.
    func shutDown(isSilent: Bool = false, keepsLocks: Bool = false) async {
        var isPending: Bool?
        if vehicle.service == .onDemandTrips, !isSilent {
            let presence = presenceAtEnd
            let unsent: Condition? =
                await AbandonableCall<Condition?>().run(within: StopTimeout.finalState, on: clock) {
                    await announce(presence, withCause: true)
                }
                ?? Condition(unsent: presence, of: "\(vehicle)", because: nil)
            if let unsent { log.write(unsent) }
            isPending = unsent != nil
        }
        if keepsLocks { LockHandover.keepLocks() }
        let closing: Void? = await AbandonableCall().run(within: StopTimeout.closing, on: clock) { [isPending] in
            await close()
            if let isPending { await pendingState.set(isPending, log: log) }
        }
        if closing == nil { log.write(Condition(OutboxError(.silent))) }
    }

    /// Notifies the reporter that the machine has a new address or route, so that delivery may work again.
    package func networkReturned() async {
        log.write(.debug, "the network has a new address or route")
        await reporter.networkReturned()
    }

    /// Sends the state that has been pending since the last stop. Retries until Fleet Engine accepts it or a delivered
    /// update has reported a newer state.
    func announcePendingState() async {
        guard vehicle.service == .onDemandTrips, await pendingState.isPending else { return }
        var pause = Duration.seconds(30)
        while !Task.isCancelled {
            if monitor.snapshot.delivery.lastDelivered != nil, await reporter.reportsPresence { break }
            // While the agent runs, a separate condition describes the cause.
            guard let unsent = await announce(presenceAtEnd, withCause: false) else { break }
            if !Task.isCancelled { monitor.hold(unsent, on: .code(.stateNotSent)) }
            await clock.sleep(for: pause)
            pause = min(pause * 2, .seconds(300))
        }
        guard !Task.isCancelled else { return }
        monitor.clear(.code(.stateNotSent))
        await pendingState.set(false, log: log)
    }

    /// The presence to report when the agent stops: the configured one, or offline if the vehicle is private.
    private var presenceAtEnd: Presence {
        monitor.snapshot.privateSince == nil ? presenceOnStop : .offline
    }

    /// Reports the presence to Fleet Engine. Returns `nil` if Fleet Engine accepts it, otherwise a condition with the
    /// title of the failure, and with its cause if `withCause` is `true`.
    private func announce(_ presence: Presence, withCause: Bool) async -> Condition? {
        let failure: Condition
        do throws(DeliveryFault) {
            guard let found = Condition(try await reporter.announce(presence: presence).outcome) else { return nil }
            failure = found
        } catch { failure = Condition(error) }
        return Condition(unsent: presence, of: "\(vehicle)", because: failure, withCause: withCause)
    }

    /// Stores the updates that are only in memory, and closes the outbox.
    package func close() async {
        await reporter.retryStoring()
        let lost = await reporter.unstoredCount
        if lost > 0 { log.write(Condition(dropped: lost, atStop: true)) }
        do { try await outbox.close() } catch { log.write(Condition(error)) }
    }
}

extension Configuration {
    /// Returns the outbox's configuration, which makes the outbox report to the log and the monitor, and accept only
    /// this vehicle's updates.
    fileprivate func outboxConfiguration(reportingTo parts: VehicleAgent.Parts) -> OutboxConfiguration {
        var outbox = outbox
        outbox.reportRecovery = {
            let condition = Condition($0, at: parts.clock.now)
            parts.monitor.raise(condition, on: .code(condition.code), for: EvictionWatch.displayTime)
        }
        outbox.reportWarning = { warning in
            // A removed log is an event, not a state that ends.
            let life = if case .removedLog = warning { EvictionWatch.displayTime } else { Duration?.none }
            parts.monitor.raise(Condition(warning), on: .code(ConditionCode(warning)), for: life)
        }
        outbox.reportWarningEnd = { parts.monitor.clear(.code(ConditionCode($0))) }
        outbox.uptime = { parts.clock.now }
        let owner = OutboxVehicle(forOutbox: outbox.path)
        outbox.checkLedger = { [vehicle] ledger throws(OutboxError) in
            try owner.adopt(vehicle, ledger: ledger) {
                parts.monitor.raise($0, on: .code($0.code), for: EvictionWatch.displayTime)
            }
        }
        return outbox
    }
}
