import FleetEngine
import GNSS
import GNSSReceiver
import LinuxPlatform
import LocationReporting
import ReportedText
import SQLiteOutbox
import TimeAndChance
import Waypost

/// Recorded logs on their way to Fleet Engine, as one vehicle or as many.
struct ReplayRun: Sendable {
    private let agents: [VehicleAgent]
    private let clock: MonotonicClock
    private let name: String
    private let speed: ReplaySpeed
    /// Whether the replay ends by itself.
    private let hasEnd: Bool

    /// Opens every vehicle's outbox.
    init(_ configuration: Configuration, _ options: ReplayOptions, observers: [any ReportingObserver] = []) async throws
    {
        try await Self.requireLogs(options)
        let clock = MonotonicClock(ContinuousClock())
        let log = LogWriter(level: configuration.log.level, format: configuration.log.format)
        let transport = try configuration.makeTransport()
        let monitors = (0..<options.vehicles).map { _ in AgentMonitor(clock: clock) }
        // One cache for all vehicles, as in a backend; the fetches are counted once.
        let authorization = configuration.cached(
            try configuration.makeProvider(log: log), clock: ContinuousClock(), log: log,
            fetched: { monitors[0].countTokenFetch() })
        var agents: [VehicleAgent] = []
        for (index, monitor) in monitors.enumerated() {
            let source = LogReplay(
                paths: options.logs,
                options: LogReplay.Options(
                    speed: options.speed, keepsTime: options.keepsTime, loops: options.loops, follows: options.follows),
                decoder: NMEADecoder(
                    options: NMEADecoderOptions(
                        acceptsMissingChecksum: options.acceptsMissingChecksum
                            || configuration.receiver.acceptsMissingChecksum)),
                clock: ContinuousClock(), now: { UTCTime.system })
            let parts = VehicleAgent.Parts(
                source: source, authorization: authorization, transport: transport, earliestFix: nil,
                expectedFix: nil, spacing: .recordedLog,
                latestFix: { UTCTime.system }, clock: clock, log: log, monitor: monitor, observers: observers)
            var own = options.vehicles == 1 ? configuration : try configuration.forVehicle(number: index + 1)
            own.upload.backlogUpdatesPerSecond = nil  // a recorded drive is a backlog as a whole, and has its own pace
            agents.append(try await VehicleAgent(own, parts))
        }
        (self.agents, self.clock, speed) = (agents, clock, options.speed)
        hasEnd = !options.loops && !options.follows
        name = options.logs.count == 1 ? options.logs[0] : "\(options.logs.count) logs"
    }

    /// A file that is not a log is reported before anything is sent; what can be read only once is left for the replay.
    private static func requireLogs(_ options: ReplayOptions) async throws(AgentError) {
        do throws(FixSourceError) {
            try await LogReader(paths: options.logs, follows: options.follows).requireAll()
        } catch { throw AgentError(.inputData, error.description) }
    }

    /// Runs to the end; what went wrong with the input is returned, so that the summary can come first.
    func run(progress showsProgress: Bool) async -> AgentError? {
        await withTaskGroup(of: AgentError?.self) { group in
            if showsProgress {
                group.addTask {
                    await drawProgress()
                    return nil
                }
            }
            for agent in agents {
                group.addTask {
                    do throws(AgentError) { try await agent.run() } catch { return error }
                    return nil
                }
            }
            var failure: AgentError?
            var running = agents.count
            for await result in group {
                if let result { failure = result }
                running -= 1
                if running == 0 { group.cancelAll() }  // only the progress line is left
            }
            return failure
        }
    }

    /// Before it runs: what is in the outboxes already, and when the newest of it happened.
    func stock() async throws(AgentError) -> (ledger: Ledger, newest: String?) {
        var (ledger, newest) = (Ledger(), UTCTime?.none)
        for agent in agents {
            let summary = try await agent.summary()
            ledger = ledger + summary.ledger
            newest = [newest, summary.newest?.update.timeOfFix].compactMap(\.self).max()
        }
        return (ledger, newest?.description)
    }

    /// What the replay came to.
    func summary() async throws(AgentError) -> (summary: ReplaySummary, ledger: Ledger) {
        var ledger = Ledger()
        for agent in agents { ledger = ledger + (try await agent.ledger()) }
        let driven = agents.compactMap(\.monitor.snapshot.progress?.reached).reduce(.zero, +)
        return (ReplaySummary(counts: counts, ledger: ledger, duration: clock.now, driven: driven), ledger)
    }

    /// How far the replay is, as `43 % of town.nmea played`.
    var reached: String {
        let share = progress.map { "\(Int($0.share * 100)) %" } ?? counts.fixes.counted("fix", "fixes")
        return "\(share) of \(FileSystem.name(of: name)) played"
    }

    /// Releases the outboxes.
    func close() async {
        for agent in agents { await agent.close() }
    }

    /// `nil` while a log is still being measured, and for those that have no end.
    private var progress: ReplayProgress? {
        let parts = agents.compactMap { agent in
            agent.monitor.snapshot.progress.map {
                ReplayProgress(reached: $0.reached, of: $0.of, elapsed: clock.now - $0.since, speed: speed)
            }
        }
        return parts.count == agents.count ? ReplayProgress(parts) : nil
    }

    private var counts: DeliveryCounts { agents.map(\.monitor.snapshot.counts).reduce(DeliveryCounts(), +) }

    private func drawProgress() async {
        while !Task.isCancelled {
            await clock.sleep(for: .milliseconds(250))
            let snapshots = agents.map(\.monitor.snapshot)
            let counts = snapshots.map(\.counts).reduce(DeliveryCounts(), +)
            let progress = progress
            if hasEnd, progress == nil {
                Terminal.draw("\(FileSystem.name(of: name))  its length is measured first")
                continue
            }
            let line = ProgressLine(
                name: name, progress: progress, fixes: counts.fixes, accepted: counts.accepted,
                delivered: counts.delivered, elapsed: progress?.elapsed ?? clock.now,
                trouble: snapshots.compactMap { $0.trouble?.reason }.first)
            Terminal.draw(line.text)
        }
        Terminal.draw("")
    }
}

extension Configuration {
    /// The same for vehicle number `number` of many: its own id, and its own outbox beside the configured one.
    func forVehicle(number: Int) throws(AgentError) -> Configuration {
        var own = self
        let id = "\(vehicle.vehicleID)-\(number)"
        do {
            own.vehicle = try VehicleName(
                service: vehicle.service, providerID: vehicle.providerID, vehicleID: id)
        } catch { throw AgentError(.configuration, "the vehicle id \"\(id)\" \(error)") }
        own.outbox.path = "\(outbox.path)-\(number)"
        return own
    }
}
