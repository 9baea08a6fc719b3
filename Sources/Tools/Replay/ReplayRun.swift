import Conditions
import FleetEngine
import GNSS
import GNSSReceiver
import Glibc
import LinuxPlatform
import ReportedText
package import Reporting
import SQLiteOutbox
import TimeAndRandomness
import VehicleAuthorization
package import Operations
import Waypost

/// A replay of recorded logs as one vehicle or as many.
package struct ReplayRun: Sendable {
    private enum Vehicles: Sendable {
        /// One vehicle, whose updates are stored in an outbox on disk.
        case one(VehicleAgent)
        /// Many vehicles, whose updates are kept in memory.
        case many(TestFleet)
    }

    private let vehicles: Vehicles
    private let vehicleCount: Int
    private let monitor: AgentMonitor
    private let meter: RequestMeter
    /// A meter of the errors that a follower of the vehicle sees; `nil` for many vehicles.
    private let followerMeter: FollowerMeter?
    package let clock: MonotonicClock
    private let name: String
    private let speed: ReplaySpeed
    /// Whether the replay ends by itself. It doesn't if it loops or follows a growing log.
    private let hasEnd: Bool
    /// For many vehicles, the total number of fixes, the total length of the logs and the planned duration; `nil` for
    /// one vehicle.
    private let plan: (fixes: Int, length: Duration, time: Duration)?
    /// The time at which the drives began. If there are many vehicles, they begin only after all tokens have been
    /// fetched.
    private let startTime = Locked(Duration.zero)
    /// Remarks about the logs, which are repeated in the summary.
    private let remarks = Locked<[String]>([])
    private let bytesWrittenBefore = DiskWrites.bytes ?? 0

    /// Prepares the replay. For one vehicle, opens the outbox. For many vehicles, reads the logs into memory. `report`
    /// is called with each remark about the logs.
    package init(
        _ configuration: Configuration, _ options: ReplayOptions, observers: [any ReportingObserver] = [],
        report: @escaping @Sendable (String) -> Void
    ) async throws {
        // A file that isn't a log is reported here, before anything is sent. A pipe can be read only once, so it is
        // left for the replay.
        try await LogReader(paths: options.logs, follows: options.follows).requireAllLogs()
        let time: any Clock<Duration> = options.fleet.count > 1 ? CoalescingClock(ContinuousClock()) : ContinuousClock()
        let clock = MonotonicClock(time)
        let log = LogWriter(level: configuration.log.level, format: configuration.log.format)
        let fleet = options.fleet
        let names = try fleet.names(for: configuration.vehicle)
        let monitor = AgentMonitor(clock: clock, log: log, servesManyVehicles: names.count > 1)
        if names.count > 1 { try TestFleet.raiseDescriptorLimit() }
        let meter = Self.makeMeter(for: options)
        let transport = try configuration.makeTransport(connections: names.count > 1 ? TestFleet.connections : nil)
        let followerMeter = names.count == 1 ? FollowerMeter() : nil
        var policy = CachePolicy()
        policy.maximumContexts = max(policy.maximumContexts, names.count)
        // All vehicles share one token cache.
        let authorization = configuration.makeTokenCache(
            for: try configuration.makeProvider { monitor.note($0) }, clock: time, policy: policy
        ) { monitor.note($0) }
        var source = Self.makeSource(configuration, options, clock: time) { [remarks] remark in
            remarks.withLock { $0.append(remark) }
            report(remark)
        }
        let interval = configuration.reporting.policy.maximumInterval * options.speed.stretch
        let parts = VehicleAgent.Parts(
            source: source.shifted(by: fleet.offset(at: 0, interval: interval)),
            makeDelivery: { $0.makeDelivery(authorization: authorization, transport: transport) }, expectedFix: nil,
            spacing: .recordedLog,
            latestFix: { UTCTime.system }, clock: clock, log: log, monitor: monitor,
            observers: observers + [meter] + (followerMeter.map { [$0] } ?? []))
        var vehicleConfiguration = configuration
        vehicleConfiguration.vehicle = names[0]
        vehicleConfiguration.upload.backlogUpdatesPerSecond = nil  // the replay's speed sets the pace
        if names.count > 1 {
            source = try await source.loadedIntoMemory()
            vehicles = .many(
                TestFleet(vehicleConfiguration, names: names, parts, authorization: authorization) { [source] index in
                    source.shifted(by: fleet.offset(at: index, interval: interval))
                })
            let survey = try await source.survey()
            plan = (
                survey.fixes * names.count, survey.length * names.count,
                survey.length * options.speed.stretch + fleet.spreadTime(interval: interval)
            )
        } else {
            vehicles = .one(try await VehicleAgent(vehicleConfiguration, parts))
            plan = nil
        }
        self.monitor = monitor
        self.meter = meter
        self.clock = clock
        speed = options.speed
        self.followerMeter = followerMeter
        vehicleCount = names.count
        hasEnd = !options.loops && !options.follows
        name = options.logs.count == 1 ? options.logs[0] : "\(options.logs.count) logs"
    }

    private static func makeMeter(for options: ReplayOptions) -> RequestMeter {
        // Lateness can be measured only at real-time speed, and only if each fix contains the time at which it is due.
        guard options.speed == .times(1), !options.keepsTime else { return RequestMeter(systemTime: nil) }
        return RequestMeter { .system }
    }

    private static func makeSource(
        _ configuration: Configuration, _ options: ReplayOptions, clock: any Clock<Duration>,
        report: @escaping @Sendable (String) -> Void
    ) -> LogReplay {
        let acceptsMissingChecksum = options.acceptsMissingChecksum || configuration.receiver.acceptsMissingChecksum
        return LogReplay(
            paths: options.logs,
            options: LogReplay.Options(
                speed: options.speed, keepsTime: options.keepsTime, loops: options.loops, follows: options.follows),
            decoder: NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: acceptsMissingChecksum)),
            clock: clock, now: { UTCTime.system }, report: { report("\($0)") })
    }

    /// Runs the replay to its end. If the input fails, returns the error instead of throwing it, so that the summary
    /// can be written first.
    package func run() async -> AgentError? {
        do throws(AgentError) {
            switch vehicles {
            case .one(let agent): try await agent.run()
            case .many(let fleet):
                await fleet.fetchTokens()
                startTime.withLock { $0 = clock.now }
                try await fleet.run()
            }
            return nil
        } catch { return error }
    }

    /// Returns the contents of the outbox before the run: its ledger and the time of its newest update.
    package func outboxContents() async throws(AgentError) -> (ledger: Ledger, newest: String?) {
        guard case .one(let agent) = vehicles else { return (Ledger(), nil) }
        let summary = try await agent.summary()
        return (summary.ledger, summary.newest?.update.timeOfFix.description)
    }

    package func summary() async throws(AgentError) -> (summary: ReplaySummary, ledger: Ledger) {
        let totals = try await self.totals()
        let ledger = totals.ledger
        let snapshot = monitor.snapshot
        let driven =
            plan.map { $0.length * (Double(snapshot.counts.fixesRead) / Double($0.fixes)) }
            ?? snapshot.progress?.reached
        var summary = ReplaySummary(
            counts: snapshot.counts, ledger: ledger, duration: elapsed, driven: driven ?? .zero, at: speed,
            requests: meter.figures, errors: followerMeter?.errors,
            bytesWritten: vehicleCount > 1 ? nil : DiskWrites.bytes.map { $0 - bytesWrittenBefore })
        summary.vehicles = vehicleCount
        summary.remarks = remarks.withLock { $0 }
        if let maximumWait = totals.maximumWait, ledger.accepted > 0 { summary.pace.note(maximumWait: maximumWait) }
        return (summary, ledger)
    }

    private func totals() async throws(AgentError) -> (ledger: Ledger, maximumWait: Duration?) {
        switch vehicles {
        case .one(let agent): return (try await agent.summary().ledger, nil)
        case .many(let fleet):
            let totals = await fleet.totals()
            return (totals.ledger, totals.maximumWait)
        }
    }

    /// The share of the logs that has been played, such as `43 % of town.nmea played`.
    package var reached: String {
        let snapshot = monitor.snapshot
        let share = progress(of: snapshot).map { "\(Int($0.share * 100)) %" }
        return
            "\(share ?? snapshot.counts.fixesRead.counted("fix", plural: "fixes")) of \(FileSystem.lastComponent(of: name)) played"
    }

    /// The time since the drives began.
    private var elapsed: Duration { clock.now - startTime.withLock { $0 } }

    package func close() async {
        if case .one(let agent) = vehicles { await agent.close() }
    }

    /// Returns the progress; `nil` until the length of the logs is known, and for a replay that doesn't end by itself.
    private func progress(of snapshot: AgentMonitor.Snapshot) -> ReplayProgress? {
        guard hasEnd else { return nil }
        if let plan {
            return ReplayProgress(
                fixes: snapshot.counts.fixesRead, of: plan.fixes, elapsed: elapsed, planned: plan.time)
        }
        return snapshot.progress.map {
            ReplayProgress(reached: $0.reached, of: $0.of, elapsed: clock.now - $0.since, speed: speed)
        }
    }

    /// Returns a reminder that everything has been played but updates can't be delivered, with the reason; otherwise
    /// `nil`.
    package func reminder() async -> String? {
        guard let reason = deliveryObstacle(in: monitor.snapshot),
            let pending = try? await totals().ledger.pending
        else { return nil }
        return
            "all of \(FileSystem.lastComponent(of: name)) has been played, but \(pending.counted("update")) \(pending == 1 ? "is" : "are") still pending: \(reason); press "
            + "Control-C, or kill \(getpid()), to end the replay and \(vehicleCount > 1 ? "lose" : "keep") the pending updates"
    }

    /// Returns the progress line for a terminal, which has at most `width` characters if possible.
    package func progressLine(width: Int) -> String {
        let snapshot = monitor.snapshot
        let counts = snapshot.counts
        let progress = progress(of: snapshot)
        if hasEnd, progress == nil { return "\(FileSystem.lastComponent(of: name))  measuring its length" }
        if vehicleCount > 1, counts.fixesRead == 0 {
            let tokens = "\(counts.tokenFetches.grouped) of \(vehicleCount.grouped) tokens"
            return "\(FileSystem.lastComponent(of: name))  \(tokens)"
        }
        var line = ProgressLine(
            name: name, progress: progress, fixes: counts.fixesRead, accepted: counts.accepted,
            delivered: counts.delivered, elapsed: progress?.elapsed ?? elapsed,
            trouble: deliveryCondition(in: snapshot)?.condition.cause)
        if vehicleCount > 1 { line.fleet = (vehicleCount, counts.requests, meter.figures) }
        return line.text(width: width)
    }

    /// Returns the reason why the replay doesn't end although everything has been played: updates can't be delivered.
    /// Returns `nil` unless delivery has been impossible for more than 2 s.
    private func deliveryObstacle(in snapshot: AgentMonitor.Snapshot) -> ReportedText? {
        let isPlayed = plan.map { snapshot.counts.fixesRead >= $0.fixes } ?? (snapshot.receiver.state?.kind == .ended)
        guard hasEnd, isPlayed, let condition = deliveryCondition(in: snapshot),
            clock.now - condition.since > .seconds(2)
        else {
            return nil
        }
        return condition.condition.explanation
    }

    /// Returns the condition that prevents updates from being delivered; `nil` if there is none.
    private func deliveryCondition(in snapshot: AgentMonitor.Snapshot) -> ActiveCondition? {
        snapshot.conditions.active(on: .delivery) ?? snapshot.conditions.active(on: .reading)
    }
}
