import Operations
import Conditions
import LinuxPlatform
import ReportedText
import Reporting
import RunRecording
import SQLiteOutbox
import VehicleAuthorization

/// A run of the service, from its start until it stops or is reloaded.
struct ServiceRun: Sendable {
    /// The options of a run in addition to its configuration.
    struct Options: Sendable {
        var ownProvider: (any VehicleAuthorization)?
        var cachePolicy = CachePolicy()
        var recordingDirectory: String?
        var reloads: ReloadSource?
        /// The handover from the previous run; `nil` if there was none.
        var last: Handover?
    }

    private let configuration: Configuration
    private let options: Options
    private let parts: ServiceParts
    /// The status address. It accepts connections from the start, and serves reports once the service has started.
    private let status: StatusAddress
    /// The states of the certificate files at the start of the run, to detect when they are replaced.
    private let certificateFiles: CertificateFileStates
    /// The token cache in front of the provider in use.
    let authorization: CachedAuthorization
    private let agent: VehicleAgent
    private let manager: ServiceManager
    private let reporter: ServiceReporter

    private var log: LogWriter { parts.log }
    private var clock: MonotonicClock { parts.clock }
    private var stallPath: String { StallRecord.path(forOutbox: configuration.outbox.path) }

    /// Creates the components of the run and opens the outbox.
    init(_ configuration: Configuration, _ options: Options) async throws(AgentError) {
        self.configuration = configuration
        self.options = options
        status = StatusAddress(configuration.statusAddress)
        parts = ServiceParts(configuration, isRecorded: options.recordingDirectory != nil, after: options.last)
        if let file = options.reloads?.file { parts.monitor.note(loadedFrom: FileSystem.destination(of: file)) }
        certificateFiles = CertificateFileStates(configuration)
        authorization = try parts.makeAuthorization(
            configuration, ownProvider: options.ownProvider, policy: options.cachePolicy)
        agent = try await parts.makeAgent(configuration, authorization: authorization)
        manager = ServiceManager(ProcessEnvironment.variables, monitor: parts.monitor)
        reporter = ServiceReporter(
            of: agent, configuration, provider: options.ownProvider == nil ? nil : "the app's own provider")
    }

    /// Reports positions until the task is cancelled, a recorded log ends or the configuration is reloaded. After a
    /// reload, returns the handover to the next run, otherwise `nil`.
    func runUntilEnd() async throws(AgentError) -> Handover? {
        announceStart()
        let reload = Locked<Reload?>(nil)
        let failure = await AbandonableCall.run(stoppedWithin: StopTimeout.tasks, on: clock) { stop in
            await runTasks { next in
                reload.withLock { $0 = next }
                stop()
            }
        }
        if let reload = reload.withLock({ $0 }), !Task.isCancelled {
            return await reload.endRun(foundRate: parts.foundRate.withLock { $0 })
        }
        manager.send(["STOPPING=1", "STATUS=stopping"])
        await agent.shutDown()
        log.write(.info, "stopped")
        await StandardError.finish()  // an embedding app may exit as soon as this returns
        if let failure = failure ?? nil { throw failure }
        if !Task.isCancelled, let reason = parts.monitor.snapshot.reasonForNoFix {
            try throwIfInputIsFinite(reason: reason)
        }
        return nil
    }

    private func announceStart() {
        let routes = StatusRoutes(report: reporter.report, history: parts.history)
        status.routes.withLock { $0 = routes }
        manager.send(["READY=1", "STATUS=started"])
        let place = status.address.map { "status at \($0)" } ?? "no status address"
        log.write(.info, "waypost \(Release.version) reports \(configuration.vehicle); \(place)")
        switch options.last?.cause {
        case .request: log.write(.info, "configuration reloaded")
        case .certificateFiles: log.write(.info, "certificate files replaced; new connections use them")
        case .rejected, nil: break
        }
        if options.reloads != nil, ReloadRequests.areIgnored {
            log.write(.info, "SIGHUP is ignored, as under nohup, so only a restart changes the configuration")
        }
        for warning in configuration.warnings { log.write(.warning, "\(warning)") }
    }

    /// Raises a condition if other users can change the configuration file or a file that it names.
    private func reportExposedFiles() async {
        let found = await onThreadIfPossible(named: "configuration") { [configuration, file = options.reloads?.file] in
            configuration.exposureProblems(from: file, to: EffectiveUser.current)
        }
        guard let exposed = Condition(exposed: (try? found.get().map(\.wording)) ?? []) else { return }
        parts.monitor.raise(exposed, on: .code(exposed.code))
    }

    /// Raises a condition while the file that turns private mode on can't do so, for example because its directory
    /// doesn't exist.
    private func watchPrivateSwitch() async {
        guard let path = configuration.privateModeFile else { return }
        while !Task.isCancelled {
            let found = await onThreadIfPossible(named: "private-switch") {
                OfflineCheck.privateSwitchFinding(at: path, for: EffectiveUser.current)
            }
            if let finding = (try? found.get()) ?? nil, finding.preventsSwitching {
                parts.monitor.hold(Condition(privateSwitch: finding, at: path), on: .privateSwitch)
            } else {
                parts.monitor.clear(.privateSwitch)
            }
            await clock.sleep(for: .seconds(10))
        }
    }

    /// Runs the agent and the tasks that support it until the agent ends. Returns the agent's error; `nil` if there was
    /// none. Calls `reload` when the next run should begin.
    private func runTasks(reload: @escaping @Sendable (Reload) -> Void) async -> AgentError? {
        await withTaskGroup(of: Void.self, returning: AgentError?.self) { group in
            group.addTask { await status.run(clock: clock, monitor: parts.monitor) }
            group.addTask { await reportLastStall() }
            group.addTask { await reportExposedFiles() }
            group.addTask { await watchPrivateSwitch() }
            group.addTask { await watchNetwork() }
            group.addTask { await watchProgress() }
            group.addTask { await reportStatus() }
            group.addTask {
                var watch = ConfigurationReload(
                    of: agent, configuration, parts, from: options.reloads, files: certificateFiles, manager: manager,
                    report: reporter.report)
                if let next = await watch.nextReload() { reload(next) }
            }
            group.addTask {
                // Memory that only the start needed is released at once. It is released again when the first
                // connections and tokens have been set up.
                ResidentMemory.releaseStartupPages()
                await clock.sleep(for: .seconds(30))
                ResidentMemory.releaseStartupPages()
            }
            if let directory = options.recordingDirectory, let recorder = parts.recorder {
                group.addTask { await recordRun(with: recorder, in: directory) }
            }
            var failure: AgentError?
            do throws(AgentError) { try await agent.run() } catch { failure = error }
            group.cancelAll()
            return failure
        }
    }

    /// Throws an error that contains `reason` if the receiver is a file or standard input. The caller calls this after
    /// the input has ended without an accepted fix.
    private func throwIfInputIsFinite(reason: String) throws(AgentError) {
        switch configuration.receiver.source {
        case .standardInput:
            throw AgentError(
                .inputData,
                "standard input has ended, but none of its fixes was accepted: \(reason); for a recorded log, use "
                    + "waypost replay LOG or receiver.type file")
        case .file(let path, follows: false):
            throw AgentError(
                .inputData,
                "\(path) has ended, but none of its fixes was accepted: \(reason); waypost fixes "
                    + "\(path) shows its contents")
        default: break
        }
    }
}

/// The tasks that support the agent.
extension ServiceRun {
    /// Reports the stall that ended the previous run, if any, and removes the record of it.
    private func reportLastStall() async {
        let path = stallPath
        let record = await onThread(named: "last-stall") {
            guard (try? FileStatus(at: path))?.isOwnFile == true else { return StallRecord?.none }
            let record = StallRecord.read(from: path)
            try? FileSystem.removeFile(at: path)  // if this fails, the next start reports the stall again
            return record
        }
        guard let record else { return }
        let condition = Condition(stalledAt: record.time, record.reason)
        parts.monitor.raise(condition, on: .code(.lastRunStalled), for: .seconds(3600))
    }

    /// Notifies the agent when the kernel reports a new address or route. If the kernel can't be watched, the agent
    /// notices the network's return only at its next retry.
    private func watchNetwork() async {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withTaskGroup { group in
            group.addTask {
                do throws(SystemError) { try await NetworkWatch().run { arrival.yield() } } catch {
                    parts.monitor.raise(
                        Condition(unavailable: .networkChanges, because: error), on: .systemInterface(.networkChanges))
                }
                arrival.finish()
            }
            for await _ in arrivals { await agent.networkReturned() }
        }
    }

    /// Watches the progress of the stages, and ends the process if a stage has stalled.
    private func watchProgress() async {
        let path = stallPath
        let watchdog = Watchdog(parts.progress, feedInterval: manager.feedInterval) { [manager] in
            manager.send(["WATCHDOG=1"])
        } end: { [parts] in
            $0.endProcess(recordedAt: path, uptime: parts.monitor.uptime, log: parts.log)
        }
        do throws(SystemError) { try await watchdog.run(clock: clock) } catch {
            parts.monitor.raise(
                Condition(unavailable: .stallDetection, because: error), on: .systemInterface(.stallDetection))
        }
    }

    /// Sends a status line to the service manager, and records the number of pending updates in the history. Repeats
    /// this every second until the first delivery, then every 10 s.
    private func reportStatus() async {
        while !Task.isCancelled {
            let report = await reporter.report()
            parts.history.note(pending: report.ledger.pending)
            manager.send(["STATUS=\(report.headline)"])
            await clock.sleep(for: report.headlineInterval)
        }
    }

    private func recordRun(with recorder: RunRecorder, in directory: String) async {
        if case .file(let path, follows: false) = configuration.receiver.source {
            log.write(
                .info,
                "only the log of this run is recorded in \(directory): \(path) is already a recording; waypost replay "
                    + "\(path) replays it")
        }
        let settings = RecordingSettings(directory: directory, version: Release.version)
        guard let error = await recorder.writeRecording(settings) else { return }
        let condition = Condition(recordingIn: directory, endedBy: error, error.refusal)
        parts.monitor.raise(condition, on: .code(.recordingStopped))
    }
}
