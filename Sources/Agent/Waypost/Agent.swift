import FleetEngine
import GNSSReceiver
import LinuxPlatform
import Reporting
import RunRecording
import SQLiteOutbox
package import TimeAndChance
public import VehicleAuthorization

/// The service: one vehicle's position, reported from a receiver to Fleet Engine until stopped.
///
/// ```swift
/// let configuration = try Configuration(file: "/etc/waypost/config.json")
/// try await Agent(configuration).run()
/// ```
///
/// Give `authorization` to use a provider of your own in place of the configured one. Between it and the uploads stands
/// a cache that keeps the rules of the Driver SDK: your provider is asked when a new token is due, or after
/// `forgetToken`. One that keeps its tokens itself can be asked at every update: `.askingAtEveryUpdate`.
public struct Agent: Sendable {
    private let configuration: Configuration
    private let authorization: (any VehicleAuthorization)?
    private let cachePolicy: CachePolicy
    /// While the agent runs.
    private let tokens = Locked<CachedAuthorization?>(nil)
    private let recordingFolder: String?
    private let notification: ServiceNotification
    private let watchdogInterval: Duration?

    /// An agent for `configuration`; nothing is opened before `run`.
    ///
    /// `authorization` is asked for tokens in place of the configured provider, as `cachePolicy` has it. The run is
    /// recorded in `recordingFolder`: the receiver's bytes with their times, and the log; 32 MiB at most, no token.
    public init(
        _ configuration: Configuration, authorization: (any VehicleAuthorization)? = nil,
        cachePolicy: CachePolicy = CachePolicy(), recordingFolder: String? = nil
    ) {
        let environment = ProcessEnvironment.variables
        self.configuration = configuration
        self.authorization = authorization
        self.cachePolicy = cachePolicy
        self.recordingFolder = recordingFolder
        notification = ServiceNotification(socketPath: environment["NOTIFY_SOCKET"])
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap(Int64.init).map { .microseconds($0) / 2 }
    }

    /// How long a report waits for the outbox.
    private static let reportPatience = Duration.seconds(2)

    /// Reports until the task is cancelled, then sends the vehicle's last state and closes the outbox.
    ///
    /// When a stage has stalled, the process ends with status 1 and leaves the reason beside the outbox: whoever
    /// keeps the service restarts it.
    ///
    /// - Throws: what keeps the service from starting; a missing receiver, network or token never does.
    public func run() async throws(AgentError) {
        var last: Handover?
        repeat { last = try await run(reloading: nil, after: last) } while last != nil
    }

    /// Runs until the task is cancelled, or until another run should take the place of this one: because `source`
    /// requests it, or because certificate files were replaced. Returns what the next run needs then, and `nil`
    /// otherwise. `last` is what the previous run returned.
    package func run(
        reloading source: ReloadSource?, after last: Handover?
    ) async throws(AgentError) -> Handover? {
        let clock = MonotonicClock(ContinuousClock())
        let history = HistoryKeeper(clock: clock)
        let recorder = recordingFolder.map { _ in RunRecorder(now: { .system }) }
        let log = LogWriter(
            level: configuration.log.level, format: configuration.log.format, hearsDebug: recorder != nil
        ) { level, text in
            if level < .debug { history.note(level, text) }
            recorder?.note(logLine: "\(level.rawValue): \(text)")
        }
        recorder?.keepPrivate(
            in: configuration.reporting.privateZones, hasSwitch: configuration.privateWhen != nil)
        let status = try StatusAddress(configuration.statusAddress)
        let parts = ServiceParts(
            log: log, clock: clock,
            monitor: configuration.readsRecording
                ? AgentMonitor(clock: clock)
                : AgentMonitor(clock: clock, systemTime: { .system }, synchronizedTime: { .synchronizedSystem }),
            progress: StageProgress(ProgressWatch(patience: configuration.patience)),
            recorder: recorder, history: history, ownProvider: authorization, cachePolicy: cachePolicy,
            foundRate: last?.baudRate)
        let files = CertificateFileStates(configuration)
        let cache = try parts.authorization(configuration)
        let agent = try await parts.agent(configuration, authorization: cache)
        tokens.withLock { $0 = cache }
        parts.monitor.note(loadedAt: last?.loadedAt ?? .system)
        if let file = source?.file { parts.monitor.note(loadedFrom: FileSystem.destination(of: file)) }
        let report = reporter(of: agent)
        status.routes.withLock { $0 = StatusRoutes(report: report, history: parts.history) }
        let manager = ServiceManager(notification, log: log)
        manager.tell(["READY=1", "STATUS=started"])
        let place = status.address.map { "status at \($0)" } ?? "no status address"
        log.write(.info, "waypost \(Release.version) reports \(configuration.vehicle); \(place)")
        switch last?.cause {
        case .request: log.write(.info, "configuration reloaded")
        case .certificateFiles: log.write(.info, "certificate files replaced; connections are made with the new ones")
        case .rejected, nil: break
        }
        for doubt in configuration.doubts { log.write(.warning, "\(doubt)") }

        let recordPath = StallRecord.path(besideOutbox: configuration.outbox.path)
        let watchdog = Watchdog(
            parts.progress, feedInterval: min(watchdogInterval ?? .seconds(10), .seconds(10))
        ) {
            manager.tell(["WATCHDOG=1"])
        } end: {
            $0.endProcess(recordedAt: recordPath, uptime: parts.monitor.uptime, log: log)
        }
        let reload = Locked<Reload?>(nil)
        let failure = await AbandonableCall.run(stoppedWithin: Stopping.patience, on: clock) { stop in
            await runServices(
                of: agent, parts, status: status, watchdog: watchdog, manager: manager, report: report
            ) {
                var watch = ConfigurationReload(
                    of: agent, configuration, parts, from: source, files: files, manager: manager, report: report)
                guard let next = await watch.next() else { return }
                reload.withLock { $0 = next }
                stop()
            }
        }
        if let reload = reload.withLock({ $0 }), !Task.isCancelled {
            tokens.withLock { $0 = nil }
            return await reload.end(foundRate: parts.foundRate.withLock { $0 })
        }

        manager.tell(["STOPPING=1", "STATUS=stopping"])
        await agent.shutDown()
        tokens.withLock { $0 = nil }
        log.write(.info, "stopped")
        await StandardError.lastWords()  // an app may end with it
        if let failure = failure ?? nil { throw failure }
        if !Task.isCancelled, let reason = parts.monitor.snapshot.reasonForNoFix {
            switch configuration.receiver.source {
            case .standardInput:
                throw AgentError(
                    .inputData,
                    "standard input has ended, and no fix of it was taken: \(reason); for a recorded log use waypost replay "
                        + "LOG, or receiver.type file")
            case .file(let path, follows: false):
                throw AgentError(
                    .inputData,
                    "\(path) has ended, and no fix of it was taken: \(reason); waypost fixes "
                        + "\(path) shows what is in it")
            default: break
            }
        }
        return nil
    }

    /// Lets go of the token in use: the next update asks the provider for another, as when a driver signs out or in.
    ///
    /// An update that is on its way has its token already. An agent that does not run holds none.
    public func forgetToken() async { await tokens.withLock { $0 }?.forgetTokens() }

    /// Tells once why the last run ended itself, and takes the file away.
    private func tellLastStall(_ agent: VehicleAgent) async {
        let path = StallRecord.path(besideOutbox: configuration.outbox.path)
        let record = await onThread(named: "last-stall") {
            guard (try? FileStatus(at: path))?.isOwnFile == true else { return StallRecord?.none }
            let record = StallRecord.read(from: path)
            try? FileSystem.removeFile(at: path)  // one that stays is reported again
            return record
        }
        guard let record else { return }
        agent.monitor.note(lastStall: record)
        agent.log.write(.warning, "the last run ended itself at \(record.time): \(record.reason)")
    }

    private func reporter(of agent: VehicleAgent) -> @Sendable () async -> StatusReport {
        let configuration = configuration
        let provider = authorization == nil ? configuration.authorization.provider : "the app's own provider"
        let outboxPath = FileSystem.destination(of: configuration.outbox.path)
        let last = Locked((summary: StoreSummary(Ledger()), extent: StoreExtent?.none))
        return {
            let call = AbandonableCall<(summary: StoreSummary?, extent: StoreExtent?)>()
            let told = await call.run(within: Self.reportPatience, on: agent.clock) {
                (summary: try? await agent.summary(), extent: try? await agent.extent())
            }
            // While the outbox fails or hangs, what was last known of it; why it fails is reported beside it.
            let (summary, extent) = last.withLock { last in
                last = (told?.summary ?? last.summary, told?.extent ?? last.extent)
                return last
            }
            return StatusReport(
                vehicle: configuration.vehicle.description, snapshot: agent.monitor.snapshot, outbox: summary,
                durability: configuration.outbox.durability,
                surroundings: StatusReport.Surroundings(
                    tokenProvider: provider, reporting: configuration.reporting.words, outboxPath: outboxPath,
                    extent: extent, residentBytes: ResidentMemory.bytes, systemTime: .system),
                at: agent.clock.now)
        }
    }

    /// Runs the pipeline with the status service, the watch of its progress and `reload` beside it; ends when the
    /// pipeline does.
    private func runServices(
        of agent: VehicleAgent, _ parts: ServiceParts, status: StatusAddress, watchdog: Watchdog,
        manager: ServiceManager, report: @escaping @Sendable () async -> StatusReport,
        reload: @escaping @Sendable () async -> Void
    ) async -> AgentError? {
        let (log, clock) = (agent.log, agent.clock)
        return await withTaskGroup(of: Void.self, returning: AgentError?.self) { group in
            group.addTask { await status.run(clock: clock, log: log) }
            group.addTask { await tellLastStall(agent) }
            group.addTask { await watchNetwork(agent) }
            group.addTask { await reload() }
            group.addTask {
                // Once the service is up, and once more when connections and tokens have been set up.
                ResidentMemory.giveBackCode()
                await clock.sleep(for: .seconds(30))
                ResidentMemory.giveBackCode()
            }
            group.addTask {
                do throws(SystemError) { try await watchdog.run(clock: clock) } catch {
                    log.write(.error, "stalled stages are not watched for: \(error)")
                }
            }
            group.addTask {
                await tellStatus(manager, parts, report: report)
            }
            if let recordingFolder, let recorder = parts.recorder {
                if case .file(let path, follows: false) = configuration.receiver.source {
                    log.write(
                        .warning,
                        "only the log of this run is recorded in \(recordingFolder): \(path) is a recording already; "
                            + "waypost replay \(path) replays it")
                }
                group.addTask {
                    let settings = RecordingSettings(folder: recordingFolder, version: Release.version)
                    await recorder.write(settings) { log.write(.warning, $0) }
                }
            }
            var failure: AgentError?
            do throws(AgentError) { try await agent.run() } catch { failure = error }
            group.cancelAll()
            return failure
        }
    }

    /// Passes on the kernel's announcements of new routes; without them delivery relies on its own attempts.
    private func watchNetwork(_ agent: VehicleAgent) async {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup { group in
            group.addTask {
                do throws(SystemError) { try await NetworkWatch().run { arrival.yield() } } catch {
                    agent.log.write(.warning, "\(error); the return of the network is noticed by retries only")
                }
                arrival.finish()
            }
            for await _ in arrivals { await agent.networkReturned() }
        }
    }

    /// Sends the service manager a line of state, and the history the pending count, every 10 s.
    private func tellStatus(
        _ manager: ServiceManager, _ parts: ServiceParts, report: @Sendable () async -> StatusReport
    ) async {
        while !Task.isCancelled {
            let report = await report()
            parts.history.note(pending: report.ledger.pending)
            manager.tell(["STATUS=\(report.headline)"])
            await parts.clock.sleep(for: .seconds(10))
        }
    }
}

/// Why an agent cannot start or continue; everything else is retried.
public struct AgentError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it is, and with it the exit status of the command.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The configuration names something that cannot be used.
        case configuration
        /// A file is not a recorded log.
        case inputData
        /// The outbox belongs to another process, a port is taken, the disk cannot be used.
        case unavailable
    }

    /// The kind of trouble.
    public let code: Code
    /// What it is about and what to do, on one line.
    public let detail: String

    /// An error with its words for the operator.
    public init(_ code: Code, _ detail: String) { (self.code, self.detail) = (code, detail) }

    /// The words for the operator.
    public var description: String { detail }
}

package enum Release {
    package static let version = "0.1.0"
    /// When this release was made: no live receiver can truthfully state an earlier time.
    package static let date = UTCTime(year: 2026, month: 11, day: 1)

    /// The latest time that a fix can truthfully state: ten minutes past `present`, when anything trustworthy knows it,
    /// else the 1024 weeks after the release within which a receiver's date is unambiguous.
    package static func latestFix(at present: UTCTime?) -> UTCTime {
        present?.advanced(by: .seconds(600)) ?? date.advanced(by: .seconds(1024 * 7 * 86_400))
    }
}
