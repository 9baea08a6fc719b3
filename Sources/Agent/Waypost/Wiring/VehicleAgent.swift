import FleetEngine
import LinuxPlatform
import ReportedText
package import Reporting
package import SQLiteOutbox
package import TimeAndChance

/// One vehicle, wired: its outbox, uploader and pipeline over real adapters.
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
            (self.expectedFix, self.spacing, self.latestFix) = (expectedFix, spacing, latestFix)
            (self.clock, self.log, self.monitor, self.observers) = (clock, log, monitor, observers)
            (self.present, self.progress) = (present, progress)
        }
    }

    /// Draws the random part of a wait, from 0...1.
    private static let jitter: @Sendable () -> Double = { Double.random(in: 0...1) }

    package let monitor: AgentMonitor
    let clock: MonotonicClock
    let log: LogWriter
    private let vehicle: VehicleName
    private let presenceOnStop: Presence
    private let outbox: TimeLimitedOutbox<SQLiteOutbox>
    /// Whether the outbox was not open when this was made.
    private let opensLate: Bool
    private let owedState: OwedState
    private let intake: LocationIntake
    private let pipeline: ReportingPipeline
    /// Whether there is a private switch to be watched.
    private let hasPrivateSwitch: Bool
    private let observer: any ReportingObserver
    private let progress: StageProgress?

    /// Opens the outbox and puts everything together; nothing moves before `run`.
    package init(_ configuration: Configuration, _ parts: Parts) async throws(AgentError) {
        let (log, monitor) = (parts.log, parts.monitor)
        var store = configuration.outbox
        store.reportRecovery = { log.write(.error, "\($0)") }
        store.reportWarning = {
            log.write(.warning, $1)
            monitor.note($0, $1)
        }
        store.reportWarningEnd = {
            log.write(.info, $1)
            monitor.note($0, nil)
        }
        store.uptime = { parts.clock.now }
        let (owner, vehicle) = (OutboxVehicle(besideOutbox: store.path), configuration.vehicle)
        store.admit = { ledger throws(OutboxError) in
            try owner.adopt(vehicle, ledger) { log.write(.warning, $0) }
        }
        outbox = TimeLimitedOutbox(
            SQLiteOutbox(store), clock: parts.clock, progress: parts.progress, gaveUp: parts.storeGaveUp)
        do throws(OutboxError) {
            try await outbox.open()
            opensLate = false
        } catch {
            // A recorded log can wait: no vehicle has to be visible by it.
            guard parts.progress != nil, !configuration.readsRecording, error.code != .locked else {
                throw AgentError(.unavailable, error.description)
            }
            opensLate = true
            monitor.note(notOpen: error)
            log.write(.error, "positions are sent from memory only: \(error)")
        }
        owedState = OwedState(of: configuration.vehicle, besideOutbox: configuration.outbox.path)
        // An outbox that fails here says so at its first use.
        let newest = try? await outbox.newest()?.update
        if let newest { parts.present?.note(lastGood: newest.timeOfFix) }
        let observer = ReportingObservers(
            [monitor, EventLog(log: log, clock: parts.clock, tellsFirstDelivery: parts.progress != nil)]
                + parts.observers
                + [parts.present].compactMap { $0 })
        self.vehicle = vehicle
        presenceOnStop = Presence(configuration.stateOnStop)
        (self.monitor, clock, self.log, self.observer) = (monitor, parts.clock, log, observer)
        progress = parts.progress
        let uploader: Uploader
        (intake, uploader) = Self.wire(configuration, parts, outbox: outbox, newest: newest, observer: observer)
        pipeline = ReportingPipeline(source: parts.source, intake: intake, uploader: uploader)
        hasPrivateSwitch = configuration.privateWhen != nil
    }

    /// The intake and the uploader over `outbox`, which holds `newest`.
    static func wire(
        _ configuration: Configuration, _ parts: Parts, outbox: any Outbox, newest: LocationUpdate?,
        observer: any ReportingObserver
    ) -> (LocationIntake, Uploader) {
        let uploader = Uploader(
            settings: configuration.uploadSettings, outbox: outbox, delivery: parts.makeDelivery(configuration),
            clock: parts.clock, jitter: Self.jitter, observer: observer,
            mayBePrivate: !configuration.reporting.privateZones.isEmpty)
        let intake = LocationIntake(
            plausibility: Plausibility(
                earliest: parts.expectedFix.map { _ in Release.date }, expected: parts.expectedFix,
                newest: parts.expectedFix.flatMap { _ in newest }),  // a recorded log may be older
            shape: ShapePoints(meters: configuration.reporting.trackMeters),
            policy: ReportingPolicy(
                configuration.reporting.policy, heartbeat: configuration.reporting.heartbeat),
            spacing: parts.spacing, privateMode: PrivateMode(zones: configuration.reporting.privateZones),
            privateSwitch: configuration.privateSwitch, outbox: outbox, uploader: uploader, clock: parts.clock,
            latestTime: parts.latestFix, observer: observer)
        return (intake, uploader)
    }

    /// Runs until the source has ended and everything is delivered, or until cancelled.
    package func run() async throws(AgentError) {
        let failure = await withDiscardingTaskGroup(returning: FixSourceError?.self) { group in
            group.addTask { await maintainOutbox() }
            if progress != nil, hasPrivateSwitch { group.addTask { await watchPrivateSwitch() } }
            var failure: FixSourceError?
            do throws(FixSourceError) { try await pipeline.run { await deliver(by: $0) } } catch { failure = error }
            group.cancelAll()
            return failure
        }
        if let failure { throw AgentError(.inputData, failure.description) }
    }

    /// Runs `uploader`; beside it, in the service, tells the state that the last stop owes.
    private func deliver(by uploader: Uploader) async {
        await intake.lookAtSwitch()  // what waits may go out before the first fix
        guard progress != nil else { return await uploader.run() }
        await withDiscardingTaskGroup { group in
            group.addTask { await tellOwedState(through: uploader) }
            await uploader.run()
            group.cancelAll()
        }
    }

    /// Each fix sees for itself how the switch stands; this is for the time in which none comes, where there is one.
    private func watchPrivateSwitch() async {
        while !Task.isCancelled {
            await intake.lookAtSwitch(isWatching: true)
            await clock.sleep(for: .seconds(1))
        }
    }

    /// Lets the outbox do its periodic work: writing what has waited, carrying out what tools have asked for.
    private func maintainOutbox() async {
        var news: EvictionNotice?
        var waitsForOpening = opensLate
        while !Task.isCancelled {
            do {
                let evictions = try await outbox.summary().evictions
                if waitsForOpening {
                    waitsForOpening = false
                    monitor.note(notOpen: nil)
                    log.write(.info, "the outbox is open")
                }
                if let line = news?.line(evictions, at: clock.now) { log.write(.warning, line) }
                news = news ?? EvictionNotice(since: evictions)
                if try await outbox.maintain() { await uploader.wakeAfterRequeue() }
                try? await intake.storeUnstored()  // reported when it was not stored
            } catch {
                observer.observe(.outboxFailed(error))
            }
            await clock.sleep(for: SQLiteOutbox.maintenanceInterval)
        }
    }

    var uploader: Uploader { pipeline.uploader }

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
        do {
            try await intake.storeUnstored()
            _ = try await outbox.summary()
        } catch { return "\(error)" }
        return await intake.hasStoredAll ? nil : "the outbox has not accepted them yet"
    }

    /// Tells Fleet Engine that the vehicle has stopped, unless `isSilent`, and closes the outbox, as far as `Stopping`
    /// has time for it. With `keepsLocks`, its locks stay held.
    ///
    /// A state that could not be sent is owed: the next start sends it, unless its first update comes before.
    func shutDown(isSilent: Bool = false, keepsLocks: Bool = false) async {
        var isOwed: Bool?
        if vehicle.service == .onDemandTrips, !isSilent {
            let presence = presenceAtEnd
            let telling = AbandonableCall<Bool>()
            let isTold =
                await telling.run(within: Stopping.longestFarewell, on: clock) {
                    await announce(presence, through: uploader)
                } ?? false
            if !isTold {
                log.write(.warning, "\(vehicle) could not be set \(presence.words); the next start will")
            }
            isOwed = !isTold
        }
        if keepsLocks { LockHandover.begin() }
        let closing: Void? = await AbandonableCall().run(within: Stopping.longestClosing, on: clock) { [isOwed] in
            await close()
            if let isOwed { await owedState.set(isOwed, log: log) }
        }
        LockHandover.end()
        if closing == nil { log.write(.error, "the outbox is not closed: it does not answer; check its disk (dmesg)") }
    }

    /// Reports that this machine has a route to the network again.
    package func networkReturned() async {
        log.write(.debug, "the network has a new address or route")
        await uploader.networkReturned()
    }

    /// Sends the state that the last stop owes, until that succeeds or any delivery has carried a newer one.
    func tellOwedState(through uploader: Uploader) async {
        guard vehicle.service == .onDemandTrips, await owedState.isOwed else { return }
        var (level, pause) = (LogLevel.warning, Duration.seconds(30))
        while !Task.isCancelled {
            if monitor.snapshot.lastDelivery != nil, await uploader.reportsPresence { break }
            if await announce(presenceAtEnd, through: uploader, complainingAt: level) { break }
            level = .debug  // the updates' own trouble is reported beside it
            await clock.sleep(for: pause)
            pause = min(pause * 2, .seconds(300))
        }
        if !Task.isCancelled { await owedState.set(false, log: log) }
    }

    /// A private vehicle is offline, whatever is told of others.
    private var presenceAtEnd: Presence {
        monitor.snapshot.privateSince == nil ? presenceOnStop : .offline
    }

    /// Whether the service has accepted the presence.
    private func announce(
        _ presence: Presence, through uploader: Uploader, complainingAt level: LogLevel = .warning
    ) async -> Bool {
        let trouble: ReportedText
        do throws(DeliveryFault) {
            let outcome = try await uploader.announce(presence: presence).outcome
            switch outcome.fault {
            case nil: return true
            case .unanswered?, .invalidAddress?: trouble = "sent: \(outcome.reason)"
            case .some: trouble = "accepted: \(outcome.reason)"
            }
        } catch { trouble = "sent: \(error.reason)" }
        if !Task.isCancelled { log.write(level, "the vehicle state was not \(trouble)") }
        return false
    }

    /// Writes what is still in memory and releases the outbox.
    package func close() async {
        try? await intake.storeUnstored()  // closing says what is wrong
        do { try await outbox.close() } catch { log.write(.error, "closing the outbox: \(error)") }
    }
}

extension Configuration {
    /// Whether anything is at the path; a path that cannot be looked at counts as a switch that is on.
    var privateSwitch: PrivateSwitch? {
        guard let path = privateWhen else { return nil }
        return {
            let isOn = await onThreadIfAny(named: "private-switch") {
                do throws(SystemError) { return try FileStatus(at: path) != nil } catch { return true }
            }
            return (try? isOn.get()) ?? true
        }
    }

    /// What delivery goes by.
    var uploadSettings: UploadSettings {
        UploadSettings(
            presence: Presence(stateWhileRunning), timeLimit: upload.timeout,
            maximumPastLocations: upload.maximumPastLocations,
            backlogUpdatesPerSecond: upload.backlogUpdatesPerSecond, retry: upload.retry,
            heartbeat: reporting.heartbeat)
    }
}

extension Presence {
    init(_ state: VehicleState) {
        switch state {
        case .online: self = .online
        case .offline: self = .offline
        }
    }
}

/// Remembers across a restart that the vehicle's last state has not been sent: a file beside the outbox, with the name
/// of the vehicle. A gateway that has moved to another one owes nothing under that name.
struct OwedState: Sendable {
    private let path: String
    private let record: [UInt8]

    init(of vehicle: VehicleName, besideOutbox outbox: String) {
        (path, record) = (outbox + Self.suffix, Array("\(vehicle)\n".utf8))
    }

    /// What follows the outbox's name.
    static let suffix = ".owed-state"

    /// Whether a state is owed.
    var isOwed: Bool { get async { await onDisk { isRecorded } ?? false } }

    /// Notes that the state is owed, or that it has been sent.
    func set(_ isOwed: Bool, log: LogWriter) async {
        let failure = await onDisk { () -> SystemError? in
            do throws(SystemError) {
                if isOwed, !isRecorded { try FileReplacement(at: path, mode: 0o600).commit(record) }
                // Another vehicle's of long ago says nothing any more.
                if !isOwed, try FileStatus(at: path)?.isOwnFile == true { try FileSystem.removeFile(at: path) }
                return nil
            } catch { return error }
        }
        if let failure = failure ?? nil {
            log.write(.warning, "the owed vehicle state cannot be recorded: \(failure)")
        }
    }

    /// Blocks.
    private var isRecorded: Bool {
        (try? FileStatus(at: path))?.isOwnFile == true
            && (try? BoundedFile.contents(of: path, limit: 1024)) == record
    }

    private func onDisk<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
        try? await onThreadIfAny(named: "owed-state", body).get()
    }
}
