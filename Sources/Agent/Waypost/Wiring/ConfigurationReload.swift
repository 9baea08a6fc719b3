import HTTPMessages
import LinuxPlatform
import LocationReporting
import ReportedText
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
/// then it is put in force in one step; one that cannot be changes nothing.
struct ConfigurationReload {
    /// Everything that a reload needs, made before anything ends.
    private struct Successor: Sendable {
        let configuration: Configuration
        let plan: ReloadPlan
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

    init(
        of agent: VehicleAgent, _ parts: ServiceParts, manager: ServiceManager, tokens: Locked<CachedAuthorization?>,
        inForce: Locked<Configuration>, authorization: CachedAuthorization,
        report: @escaping @Sendable () async -> StatusReport
    ) {
        (self.agent, self.parts, self.manager, self.tokens) = (agent, parts, manager, tokens)
        (self.inForce, self.authorization, self.report) = (inForce, authorization, report)
    }

    /// Until cancelled.
    mutating func run(at reloads: ReloadRequests) async {
        for await _ in reloads.requests {
            manager.tell(ServiceNotification.reloading)
            switch await successor(from: reloads.file) {
            case .success(let successor): await put(inForce: successor)
            case .failure(let rejection): reject(rejection)
            }
            guard !Task.isCancelled else { return }
            manager.tell(["READY=1", "STATUS=\(await report().headline)"])
        }
    }

    /// On a thread, for a disk may hang: whatever waits for it then, updates do not.
    private func successor(from file: String) async -> Result<Successor, ReloadRejection> {
        let read = await onThreadIfAny(named: "configuration") { [inForce, parts] in
            Result { () throws(ReloadRejection) in try Self.successor(of: inForce.withLock { $0 }, from: file, parts) }
        }
        switch read {
        case .success(let successor): return successor
        case .failure(let error): return .failure(ReloadRejection(problems: ["\(error)"]))
        }
    }

    private static func successor(
        of inForce: Configuration, from file: String, _ parts: ServiceParts
    ) throws(ReloadRejection) -> Successor {
        let configuration: Configuration
        do { configuration = try Configuration(file: file) } catch { throw ReloadRejection(problems: error.problems) }
        let plan = ReloadPlan(from: inForce, to: configuration)
        guard plan.restartKeys.isEmpty else { throw ReloadRejection(file: file, restartKeys: plan.restartKeys) }
        var successor = Successor(configuration: configuration, plan: plan)
        if plan.parts.contains(.receiver) { successor.source = parts.source(configuration) }
        do throws(AgentError) {
            if plan.parts.contains(.tokens) { successor.authorization = try parts.authorization(configuration) }
            if plan.parts.contains(.delivery) { successor.transport = try parts.transport(configuration) }
        } catch { throw ReloadRejection(problems: ["\(file): \(error)"]) }
        return successor
    }

    private mutating func put(inForce successor: Successor) async {
        let configuration = successor.configuration
        if let next = successor.authorization {
            authorization = next
            tokens.withLock { $0 = next }
            parts.progress.rests(.token)
        }
        parts.recorder.keepPrivate(
            in: configuration.reporting.privateZones, hasSwitch: configuration.privateWhen != nil)
        await agent.reload(
            configuration, source: successor.source,
            delivery: successor.transport.map { (authorization, $0) })
        inForce.withLock { $0 = configuration }
        parts.monitor.note(loadedAt: .system)
        parts.recorder.note(.reloaded(parts: successor.plan.parts.map(\.rawValue).sorted()))
        parts.log.change(to: configuration.log)  // whoever reads that it is reloaded finds all of it in force
        parts.log.write(.info, "configuration reloaded; \(successor.plan.words)")
        for doubt in configuration.doubts { parts.log.write(.warning, "\(doubt)") }
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
