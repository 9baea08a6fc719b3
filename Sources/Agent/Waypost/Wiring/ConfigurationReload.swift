import Operations
import Conditions
import GNSSReceiver
package import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox
import TimeAndRandomness

/// The configuration file of a running service, and the requests to reload it.
package struct ReloadSource: Sendable {
    let file: String
    let requests: ReloadRequests

    package init(file: String, requests: ReloadRequests) {
        self.file = file
        self.requests = requests
    }
}

/// A wait for the moment when the next run of the service should begin, because a reload was requested or certificate
/// files were replaced.
///
/// The next configuration is validated first, including everything else that could prevent the next run from starting.
/// If the configuration is unusable, the current run continues. Otherwise, the run ends once every position is stored.
struct ConfigurationReload {
    /// A validated configuration for the next run.
    fileprivate struct Candidate: Sendable {
        let cause: Handover.Cause
        let configuration: Configuration
        let change: ConfigurationChange
        let loadedAt: UTCTime
    }

    private let source: ReloadSource?
    private let current: Configuration
    private let parts: ServiceParts
    private let agent: VehicleAgent
    private let manager: ServiceManager
    private let report: @Sendable () async -> StatusReport
    /// The states of the certificate files with which the current connections were made.
    private let files: CertificateFileStates
    /// The states of replaced files that turned out to be unusable; `nil` if there are none. The problem with them has
    /// been reported and isn't reported again.
    private var unusableFiles: CertificateFileStates?

    /// The interval at which certificate files are checked for replacement.
    static let lookInterval = Duration.seconds(10)
    /// The pause before the next attempt to end the run if some positions are only in memory.
    private static let shutdownRetryInterval = Duration.seconds(1)

    init(
        of agent: VehicleAgent, _ current: Configuration, _ parts: ServiceParts, from source: ReloadSource?,
        files: CertificateFileStates, manager: ServiceManager, report: @escaping @Sendable () async -> StatusReport
    ) {
        self.agent = agent
        self.current = current
        self.parts = parts
        self.source = source
        self.files = files
        self.manager = manager
        self.report = report
    }

    /// Waits for a reload that can end this run now. Returns that reload; `nil` if the task is cancelled.
    mutating func nextReload() async -> Reload? {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { [clock = parts.clock] in
                while !Task.isCancelled {
                    await clock.sleep(for: Self.lookInterval)
                    wake.yield()
                }
            }
            if let source {
                group.addTask { for await _ in source.requests.arrivals { wake.yield() } }
            }
            var candidate: Candidate?
            var hasReportedWait = false
            for await _ in wakes {
                if source?.requests.takeRequest() == true {
                    candidate = await requestedCandidate()
                    hasReportedWait = false
                } else if candidate == nil {
                    candidate = await candidateOfReplacedFiles()
                }
                guard let found = candidate else { continue }
                if await agent.storeAll() {
                    group.cancelAll()
                    return Reload(of: agent, found, current: current, isOfProcess: source != nil)
                }
                if !hasReportedWait {
                    parts.log.write(.info, "reload delayed until positions in memory are stored")
                }
                hasReportedWait = true
                group.addTask { [clock = parts.clock] in
                    await clock.sleep(for: Self.shutdownRetryInterval)
                    wake.yield()
                }
            }
            group.cancelAll()
            return nil
        }
    }

    /// Reads and validates the configuration file. Reports a rejected configuration and returns `nil`.
    private func requestedCandidate() async -> Candidate? {
        guard let source else { return nil }
        manager.send(ServiceNotifier.reloading)
        var ledger: Ledger?
        if let summary = try? await agent.summary() { ledger = summary.ledger }
        let candidate = await onThread { [current, ledger] () throws(ReloadRejection) in
            try Self.candidate(from: source.file, replacing: current, ledger: ledger)
        }
        switch candidate {
        case .success(let candidate):
            if !candidate.change.keepsOutbox, let ledger, ledger.pending > 0 {
                parts.log.write(
                    .info,
                    "the previous outbox, \(current.outbox.path), contains \(ledger.pending.counted("pending update")); to "
                        + "send what it contains, set outbox.path back to it")
            }
            return candidate
        case .failure(let rejection):
            parts.monitor.note(rejectedReload: rejection.problems)
            if !Task.isCancelled { manager.send(["READY=1", "STATUS=\(await report().headline)"]) }
            return nil
        }
    }

    /// Checks whether certificate files have been replaced. Returns `nil` if no file has been, or if a new file is
    /// unusable.
    private mutating func candidateOfReplacedFiles() async -> Candidate? {
        let configuration = current
        guard !configuration.uploadCertificateFiles.isEmpty || !configuration.tokenCertificateFiles.isEmpty else {
            return nil
        }
        let found = await onThread { () throws(ReloadRejection) in CertificateFileStates(configuration) }
        guard case .success(let found) = found, found != files else { return nil }
        let proof = await onThread { () throws(ReloadRejection) in try Self.requireStartable(configuration) }
        switch proof {
        case .success:
            return Candidate(
                cause: .certificateFiles, configuration: configuration,
                change: ConfigurationChange(from: configuration, to: configuration),
                loadedAt: parts.monitor.snapshot.configuration.loadedAt ?? .system)
        case .failure(let rejection):
            guard found != unusableFiles else { return nil }
            unusableFiles = found
            parts.monitor.note(rejectedReload: rejection.problems)
            return nil
        }
    }

    /// Calls `body` on a dedicated thread and returns its value, so that a hanging disk doesn't delay updates.
    private func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ReloadRejection) -> Value
    ) async -> Result<Value, ReloadRejection> {
        let made = await onThreadIfPossible(named: "configuration") {
            Result { () throws(ReloadRejection) in try body() }
        }
        switch made {
        case .success(let result): return result
        case .failure(let error): return .failure(ReloadRejection("\(error)"))
        }
    }

    private static func candidate(
        from file: String, replacing current: Configuration, ledger: Ledger?
    ) throws(ReloadRejection) -> Candidate {
        let configuration: Configuration
        let loadedAt = UTCTime.system
        do { configuration = try Configuration(file: file) } catch { throw ReloadRejection(problems: error.problems) }
        let change = ConfigurationChange(from: current, to: configuration)
        do throws(ReloadRejection) {
            if change.receiverEnds {
                throw ReloadRejection(
                    "is or becomes stdin, or a file without follow, which only a restart can change",
                    key: "receiver")
            }
            if change.renamesPending, let ledger { try requireNothingPending(in: ledger, for: configuration) }
            if !change.keepsOutbox, let owner = OutboxConfiguration.owner(ofOutboxAt: configuration.outbox.path) {
                throw ReloadRejection("\(configuration.outbox.path) is used by \(owner)", key: "outbox.path")
            }
            try requireStartable(configuration)
        } catch {
            throw ReloadRejection(
                problems: error.problems.map { ConfigurationProblem(in: file, key: $0.key, $0.text) })
        }
        return Candidate(cause: .request, configuration: configuration, change: change, loadedAt: loadedAt)
    }

    /// Verifies that the next run wouldn't send pending updates under another vehicle's name.
    fileprivate static func requireNothingPending(
        in ledger: Ledger, for configuration: Configuration
    ) throws(ReloadRejection) {
        do throws(OutboxError) {
            try OutboxVehicle(forOutbox: configuration.outbox.path).require(configuration.vehicle, ledger: ledger)
        } catch { throw ReloadRejection("\(error)") }
    }

    /// Verifies that the next run can start, by creating its token provider and transport and discarding them.
    private static func requireStartable(_ configuration: Configuration) throws(ReloadRejection) {
        do throws(AgentError) {
            _ = try configuration.makeProvider()
            if let problem = configuration.tokenCertificateFiles.keyMismatch {
                throw AgentError(.configuration, problem)
            }
            _ = try configuration.makeTransport()
            try configuration.verifyOutbox()
            try configuration.verifyStatusSocket()
        } catch { throw ReloadRejection("\(error)") }
    }
}

/// A reload that is ready to end the current run of the service.
struct Reload: Sendable {
    private let agent: VehicleAgent
    private let candidate: ConfigurationReload.Candidate
    private let current: Configuration
    /// Whether the reload re-executes the process. If so, the process keeps the outbox's locks.
    private let isOfProcess: Bool

    fileprivate init(
        of agent: VehicleAgent, _ candidate: ConfigurationReload.Candidate, current: Configuration, isOfProcess: Bool
    ) {
        self.agent = agent
        self.candidate = candidate
        self.current = current
        self.isOfProcess = isOfProcess
    }

    /// Shuts the agent down after all tasks of the run have ended. Returns the handover to the next run.
    ///
    /// If the vehicle's name changes and updates of the current vehicle are still pending, the next run keeps the
    /// current configuration.
    func endRun(foundRate: FoundBaudRate?) async -> Handover {
        var cause = candidate.cause
        var next = candidate.configuration
        var change = candidate.change
        if change.renamesPending, let ledger = try? await agent.summary().ledger {
            do throws(ReloadRejection) { try ConfigurationReload.requireNothingPending(in: ledger, for: next) } catch {
                agent.monitor.note(rejectedReload: error.problems)
                cause = .rejected
                next = current
                change = ConfigurationChange(from: current, to: current)
            }
        }
        await agent.shutDown(isSilent: !change.stopsReportingVehicle, keepsLocks: isOfProcess && change.keepsOutbox)
        return Handover(cause: cause, document: next.document, loadedAt: candidate.loadedAt, baudRate: foundRate)
    }
}

/// The error for a rejected reload. The current configuration stays in use.
struct ReloadRejection: Error, Sendable, Hashable {
    /// The problems that caused the rejection, without secrets.
    let problems: [ConfigurationProblem]

    init(problems: [ConfigurationProblem]) { self.problems = problems }

    init(_ text: String, key: String? = nil) { problems = [ConfigurationProblem(key: key, text)] }
}
