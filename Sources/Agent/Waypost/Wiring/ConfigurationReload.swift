import HTTPMessages
import LinuxPlatform
import ReportedText
import Reporting
import RunRecording
import VehicleAuthorization

/// Who asks a running service to read its configuration anew, and from where.
package struct ReloadRequests: Sendable {
    let file: String
    let requests: AsyncStream<Void>

    /// Reads `file` at each of `requests`, of which one is kept while another is carried out.
    package init(file: String, requests: AsyncStream<Void>) { (self.file, self.requests) = (file, requests) }
}

/// Reads the configuration of the running service anew: the new one is checked whole and everything made that it needs,
/// then it is put in force in one step; one that cannot be changes nothing. Certificate files that are replaced under
/// their names are noticed without a request, too.
struct ConfigurationReload {
    /// Everything that a reload needs, made before anything ends.
    private struct Successor: Sendable {
        let configuration: Configuration
        let plan: ReloadPlan
        let files: CertificateFileStates
        var source: (any FixSource)?
        var authorization: CachedAuthorization?
        var transport: (any HTTPTransport)?
    }

    private let parts: ServiceParts
    private let agent: VehicleAgent
    private let manager: ServiceManager
    /// The cache in use, for those who drop its tokens.
    private let tokens: Locked<CachedAuthorization?>
    private let report: @Sendable () async -> StatusReport
    private let inForce: Locked<Configuration>
    private var authorization: CachedAuthorization
    /// Those that the connections in use were made with.
    private var files: CertificateFileStates
    /// Replaced ones that could not be used, which has been logged; they are tried again.
    private var unusableFiles: CertificateFileStates?

    /// The time between looks at the certificate files.
    private static let lookInterval = Duration.seconds(10)

    init(
        of agent: VehicleAgent, _ parts: ServiceParts, manager: ServiceManager, tokens: Locked<CachedAuthorization?>,
        inForce: Locked<Configuration>, authorization: CachedAuthorization, files: CertificateFileStates,
        report: @escaping @Sendable () async -> StatusReport
    ) {
        (self.agent, self.parts, self.manager, self.tokens) = (agent, parts, manager, tokens)
        (self.inForce, self.authorization, self.report) = (inForce, authorization, report)
        self.files = files
    }

    /// Until cancelled. Without `reloads`, only replaced files are noticed.
    mutating func run(at reloads: ReloadRequests?) async {
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let isRequested = Locked(false)
        await withTaskGroup { group in
            group.addTask { [clock = parts.clock] in
                while !Task.isCancelled {
                    await clock.sleep(for: Self.lookInterval)
                    wake.yield()
                }
            }
            if let reloads {
                group.addTask {
                    for await _ in reloads.requests {
                        isRequested.withLock { $0 = true }
                        wake.yield()
                    }
                }
            }
            for await _ in wakes {
                if isRequested.withLock({ exchange(&$0, with: false) }), let file = reloads?.file {
                    await reload(file)
                } else {
                    await lookAtFiles()
                }
            }
        }
    }

    private mutating func reload(_ file: String) async {
        manager.tell(ServiceNotification.reloading)
        let successor = await made { [inForce, files, parts] () throws(ReloadRejection) in
            try Self.successor(of: inForce.withLock { $0 }, files, from: file, parts)
        }
        switch successor {
        case .success(let successor):
            await put(inForce: successor)
            parts.monitor.note(loadedAt: .system)
            // First: whoever reads that it is reloaded finds all of it in force.
            parts.log.change(to: successor.configuration.log)
            parts.log.write(.info, "configuration reloaded; \(successor.plan.words)")
            for doubt in successor.configuration.doubts { parts.log.write(.warning, "\(doubt)") }
        case .failure(let rejection): reject(rejection)
        }
        guard !Task.isCancelled else { return }
        manager.tell(["READY=1", "STATUS=\(await report().headline)"])
    }

    /// Makes connections anew if a certificate file was replaced: by the configuration in force, whatever its file
    /// says.
    private mutating func lookAtFiles() async {
        let configuration = inForce.withLock { $0 }
        guard !configuration.uploadFiles.isEmpty || !configuration.tokenFiles.isEmpty else { return }
        let found = await made { () throws(ReloadRejection) in CertificateFileStates(configuration) }
        guard case .success(let found) = found, found != files else { return }
        var plan = ReloadPlan(from: configuration, to: configuration)
        plan.note(files, found)
        let successor = await made { [parts, plan] () throws(ReloadRejection) in
            try Self.successor(Successor(configuration: configuration, plan: plan, files: found), parts)
        }
        switch successor {
        case .success(let successor):
            await put(inForce: successor)
            parts.log.write(.info, "certificate files replaced; \(plan.words)")
        case .failure(let rejection):
            guard found != unusableFiles else { return }
            unusableFiles = found
            for problem in rejection.problems {
                parts.log.write(.error, "certificate files replaced, and not used: \(problem)")
            }
        }
    }

    /// On a thread, for a disk may hang: whatever waits for it then, updates do not.
    private func made<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ReloadRejection) -> Value
    ) async -> Result<Value, ReloadRejection> {
        let made = await onThreadIfAny(named: "configuration") { Result { () throws(ReloadRejection) in try body() } }
        switch made {
        case .success(let result): return result
        case .failure(let error): return .failure(ReloadRejection(problems: ["\(error)"]))
        }
    }

    private static func successor(
        of inForce: Configuration, _ files: CertificateFileStates, from file: String, _ parts: ServiceParts
    ) throws(ReloadRejection) -> Successor {
        let configuration: Configuration
        do { configuration = try Configuration(file: file) } catch { throw ReloadRejection(problems: error.problems) }
        var plan = ReloadPlan(from: inForce, to: configuration)
        guard plan.restartKeys.isEmpty else { throw ReloadRejection(file: file, restartKeys: plan.restartKeys) }
        // Before they are read: one that is replaced meanwhile is noticed at the next look.
        let found = CertificateFileStates(configuration)
        plan.note(files, found)
        do throws(ReloadRejection) {
            return try successor(Successor(configuration: configuration, plan: plan, files: found), parts)
        } catch { throw ReloadRejection(problems: error.problems.map { "\(file): \($0)" }) }
    }

    /// Makes what the plan of `successor` asks for.
    private static func successor(
        _ successor: Successor, _ parts: ServiceParts
    ) throws(ReloadRejection) -> Successor {
        var successor = successor
        let (configuration, changed) = (successor.configuration, successor.plan.parts)
        if changed.contains(.receiver) { successor.source = parts.source(configuration) }
        do throws(AgentError) {
            if changed.contains(.tokens) {
                successor.authorization = try parts.authorization(configuration)
                if let problem = configuration.tokenFiles.problemOfPair { throw AgentError(.configuration, problem) }
            }
            if changed.contains(.delivery) { successor.transport = try parts.transport(configuration) }
        } catch { throw ReloadRejection(problems: ["\(error)"]) }
        return successor
    }

    private mutating func put(inForce successor: Successor) async {
        let configuration = successor.configuration
        if let next = successor.authorization {
            authorization = next
            tokens.withLock { $0 = next }
            parts.progress.rests(.token)
        }
        parts.recorder?.keepPrivate(
            in: configuration.reporting.privateZones, hasSwitch: configuration.privateWhen != nil)
        await agent.reload(
            configuration, source: successor.source,
            delivery: successor.transport.map {
                configuration.makeDelivery(authorization: authorization, transport: $0)
            })
        inForce.withLock { $0 = configuration }
        files = successor.files
    }

    private func reject(_ rejection: ReloadRejection) {
        parts.monitor.note(rejectedReload: rejection.summary)
        for problem in rejection.problems { parts.log.write(.error, "configuration not reloaded: \(problem)") }
    }
}

/// Why a reload changes nothing.
struct ReloadRejection: Error, Sendable, Hashable {
    /// One each, as everybody may read it.
    let problems: [String]

    /// A line of the file that stands below a problem is left out.
    init(problems: [String]) { self.problems = problems.map { String($0.prefix { $0 != "\n" }) } }

    init(file: String, restartKeys keys: [String]) {
        let verb = keys.count == 1 ? "is" : "are"
        problems = [
            "\(file): \(keys.map { "\"\($0)\"" }.joined(separator: " and ")) \(verb) changed, which a reload cannot "
                + "do; put the old value back and reload, or type: systemctl restart waypost"
        ]
    }

    /// The first, and how many more there are.
    var summary: String {
        let (first, others) = (problems.first ?? "", problems.count - 1)
        return others > 0 ? "\(first) (and \(others.counted("other problem")))" : first
    }
}
