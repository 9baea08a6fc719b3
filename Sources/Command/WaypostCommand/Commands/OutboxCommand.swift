import Conditions
import LinuxPlatform
import ReportedText
import Reporting
import SQLiteOutbox
import StrictJSON
import TimeAndRandomness
import Operations
import Waypost

/// `waypost outbox`: shows the ledger and the pending and quarantined updates, and requeues or discards quarantined
/// updates. It works whether or not the service is running.
struct OutboxCommand {
    private enum Action {
        case list, export
        case change(QuarantineRequest)
    }

    private let action: Action
    private let asJSON: Bool
    private let configuration: OutboxConfiguration
    private var path: String { configuration.path }

    init(_ arguments: Arguments) throws {
        action = try Self.action(from: arguments)
        asJSON = arguments.has("--json")
        configuration = try arguments.configuration().outbox
    }

    func run() async throws -> ExitStatus {
        try EffectiveUser.becomeOwner(ofDirectoryOf: path)
        do {
            switch action {
            case .list: try list(OutboxReader(path: path))
            case .export: try export(OutboxReader(path: path))
            case .change(let request): return try await change(request)
            }
        } catch let error as OutboxError {
            throw AgentError(.unavailable, error.wording(isForTool: true).sentence.description)
        }
        return .done
    }

    private static func action(from arguments: Arguments) throws -> Action {
        let word = arguments.operands.first ?? ""
        let numbers = arguments.allValues("--update")
        let isChosen = arguments.has("--all") || !numbers.isEmpty
        func usageError(_ problem: String) -> UsageError { UsageError("outbox \(word) \(problem)", command: "outbox") }
        guard word == "requeue" || word == "discard" else {
            if isChosen { throw usageError("accepts neither --all nor --update; only requeue and discard do") }
            return word == "export" ? .export : .list
        }
        if !isChosen { throw usageError("needs --update N for each update, or --all") }
        if arguments.has("--all"), !numbers.isEmpty { throw usageError("accepts --all or --update, not both") }
        let sequences = try numbers.map { text in
            guard let number = Int64(text), number > 0 else {
                throw usageError(
                    "needs --update with the number of an update, not \"\(text)\"; run waypost outbox list to see the numbers"
                )
            }
            return number
        }
        return .change(
            QuarantineRequest(
                word == "requeue" ? .requeue : .discard, arguments.has("--all") ? nil : Set(sequences)))
    }

    private func list(_ reader: OutboxReader) throws {
        let (quarantined, damage) = try reader.quarantined()
        let listing = OutboxListing(
            path: path, try reader.summary(), oldestPending: try reader.pending(after: 0).first,
            quarantined: quarantined.map(OutboxRow.init))
        try StandardOutput.write(line: asJSON ? Self.encoded(listing) : listing.text)
        if let damage { throw damage }  // everything that is readable has been printed
    }

    private func export(_ reader: OutboxReader) throws {
        var count = 0
        try reader.forEachPending { update in
            if Task.isCancelled {
                throw Interruption("only \(count.counted("update")) from \(path) written")
            }
            try StandardOutput.write(line: Self.encoded(OutboxRow(update)))
            count += 1
        }
        let (quarantined, damage) = try reader.quarantined()
        for row in quarantined { try StandardOutput.write(line: Self.encoded(OutboxRow(row))) }
        if let damage { throw damage }
    }

    private func change(_ request: QuarantineRequest) async throws -> ExitStatus {
        switch try await QuarantineClient(configuration: configuration).carryOut(request) {
        case .done(let count, let notRequeued) where count > 0 || notRequeued > 0:
            let result = QuarantineResult(
                action: request.action == .requeue ? "requeue" : "discard", path: path, updates: count,
                notKept: notRequeued)
            try StandardOutput.write(line: asJSON ? Self.encoded(result) : result.text)
            return .done
        case .done: Terminal.say("waypost: \(path): nothing is quarantined")
        case .unknown(let numbers):
            let list = numbers.prefix(10).map(String.init).joined(separator: ", ")
            Terminal.say(
                "waypost: \(path): not in quarantine: \(list)\(numbers.count > 10 ? " and more" : ""); nothing was "
                    + "changed; run waypost outbox list to see the quarantined updates")
        case .notUnderstood:
            Terminal.say("waypost: \(path): the running service does not know this request; update and restart it")
        }
        return .failed
    }

    private static func encoded(_ value: some Encodable) throws -> String {
        try JSONValue(encoding: value).text
    }
}

/// A client that requeues or discards quarantined updates. If the running service has locked the outbox, the client
/// passes the request to the service.
struct QuarantineClient {
    let configuration: OutboxConfiguration

    /// The maximum time to wait for the service's answer. The service checks for requests every 2 s.
    private static let timeout = Duration.seconds(15)
    private static let pollInterval = Duration.milliseconds(100)

    /// Carries out `request` and returns the answer.
    ///
    /// - Throws: `OutboxError` if the outbox can't be used, or `AgentError` if the service doesn't handle the request
    ///   in time.
    func carryOut(_ request: QuarantineRequest) async throws -> QuarantineAnswer {
        _ = try OutboxReader(path: configuration.path)  // throws if the outbox is missing; `open` would create it
        var configuration = configuration
        configuration.repairsDamage = false
        do throws(OutboxError) {
            let outbox = try await SQLiteOutbox.open(configuration)
            let answer = try await outbox.carryOut(request)
            try await outbox.close()
            return answer
        } catch {
            guard error.code == .locked else { throw error }
            return try await requestChange(request, from: error.holderName.description)
        }
    }

    private func requestChange(_ request: QuarantineRequest, from holder: String) async throws -> QuarantineAnswer {
        let requester = try OutboxRequester(path: configuration.path)
        let number = try requester.submit(request)
        let clock = ContinuousClock()
        let deadline = clock.now + Self.timeout
        while clock.now < deadline, !Task.isCancelled {
            if let answer = try requester.answer(to: number) { return answer }
            do { try await clock.sleep(for: Self.pollInterval) } catch { break }  // the request is withdrawn below
        }
        if let answer = try requester.withdraw(number) { return answer }
        if Task.isCancelled { throw Interruption("\(holder) has not handled the request; nothing was changed") }
        throw AgentError(
            .unavailable,
            "\(configuration.path): in use by \(holder), which did not handle the request within "
                + "\(Int(Self.timeout / .seconds(1))) s, so nothing was changed; check its log, or stop it and "
                + "try again")
    }
}

/// The output of `waypost outbox requeue` and `discard`.
struct QuarantineResult: Encodable {
    /// The action that was carried out, `requeue` or `discard`.
    let action: String
    let path: String
    /// The number of updates that were requeued or discarded.
    let updates: Int64
    /// The number of updates that could not be requeued. The outbox keeps only the contents of the latest 256
    /// quarantined updates.
    let notKept: Int64

    var text: String {
        let older =
            notKept == 1
            ? "1 older update stays quarantined, because its contents are no longer kept"
            : "\(notKept.grouped) older updates stay quarantined, because their contents are no longer kept"
        let rest = notKept > 0 ? "; \(older)" : ""
        return action == "requeue"
            ? "\(updates.counted("update")) requeued: pending again\(rest)"
            : "\(updates.counted("update")) discarded: counted as evicted"
    }
}

/// The output of `waypost outbox list`, as text and as JSON.
struct OutboxListing: Encodable {
    let path: String
    let accepted, delivered, pending, evicted, quarantined: Int64
    let balances: Bool
    /// The number of evicted updates and the period of their fixes, by the reason for the eviction.
    let evictions: [String: TallyReport]
    let quarantine: TallyReport
    private let oldestPendingTime: String?
    private let newestTime: String?
    private let quarantinedUpdates: [OutboxRow]

    init(path: String, _ summary: StoreSummary, oldestPending: StoredUpdate?, quarantined: [OutboxRow]) {
        let ledger = summary.ledger
        self.path = path
        accepted = ledger.accepted
        delivered = ledger.delivered
        pending = ledger.pending
        evicted = ledger.evicted
        self.quarantined = ledger.quarantined
        balances = ledger.balances
        evictions = TallyReport.byReason(summary.evictions)
        quarantine = TallyReport(summary.quarantined)
        oldestPendingTime = oldestPending?.update.timeOfFix.description
        newestTime = summary.newest?.update.timeOfFix.description
        quarantinedUpdates = quarantined
    }

    /// The ledger on one line, followed by its details.
    var text: String {
        var lines = [
            path,
            "accepted \(accepted) = delivered \(delivered) + pending \(pending) + evicted \(evicted) "
                + "+ quarantined \(quarantined)" + (balances ? "" : "   DOES NOT BALANCE"),
        ]
        for reason in EvictionReason.allCases {
            guard let tally = evictions[reason.rawValue], tally.count > 0 else { continue }
            lines.append("evicted, \(reason.rawValue): \(Self.tallyText(tally))")
        }
        if quarantine.count > 0 { lines.append("quarantined: \(Self.tallyText(quarantine))") }
        if let oldestPendingTime { lines.append("oldest pending: \(oldestPendingTime)") }
        if let newestTime { lines.append("newest update:  \(newestTime)") }
        for row in quarantinedUpdates { lines.append("quarantined \(row.sequence): \(row.reason ?? "")") }
        return lines.joined(separator: "\n")
    }

    private static func tallyText(_ tally: TallyReport) -> String {
        guard let first = tally.firstTimeOfFix, let last = tally.lastTimeOfFix else { return "\(tally.count)" }
        return "\(tally.count), with fixes from \(first) to \(last)"
    }
}

/// A stored update in the form that the JSON output uses.
struct OutboxRow: Encodable {
    let sequence: Int64
    let time: String
    let latitude: Double
    let longitude: Double
    /// The altitude above the WGS 84 ellipsoid, unlike `altitudeMeters` of `waypost fixes`, which is above mean sea
    /// level.
    private let altitudeAboveEllipsoidMeters: Double?
    let speedMetersPerSecond: Double?
    let headingDegrees: Int?
    let horizontalAccuracyMeters: Double?
    /// The reason that Fleet Engine gave for rejecting the update; `nil` unless the update is quarantined.
    var reason: String?

    init(_ stored: StoredUpdate) {
        sequence = stored.sequence
        time = stored.update.timeOfFix.description
        latitude = stored.update.latitude
        longitude = stored.update.longitude
        altitudeAboveEllipsoidMeters = stored.update.altitudeMeters
        speedMetersPerSecond = stored.update.speedMetersPerSecond
        headingDegrees = stored.update.headingDegrees
        horizontalAccuracyMeters = stored.update.horizontalAccuracyMeters
    }

    init(_ quarantined: QuarantinedUpdate) {
        self.init(quarantined.stored)
        reason = quarantined.reason.description
    }
}
