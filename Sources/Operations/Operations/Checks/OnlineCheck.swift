import Conditions
import FleetEngine
import FleetEngineDelivery
package import GNSS
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import ReportedText
package import Reporting
import SQLiteOutbox
package import TimeAndChance
import VehicleAuthorization

/// What `waypost check --online` tries with the code that the service uses: the outbox, then the rest side by side.
///
/// Where the service runs, receiver and outbox are in its hands, and it is asked how they are.
package enum OnlineCheck {
    /// What is tried, in this order.
    package static func names(_ configuration: Configuration) -> [String] {
        ["outbox", "receiver", "token", "Fleet Engine"] + (hasTripTokens(configuration) ? ["trip token"] : [])
    }

    /// Tries everything; takes half a minute, and where the baud rate is unknown the time to find it. Ten seconds more
    /// where a service does not answer.
    ///
    /// `waits` hears what is waited for, `found` what came of each check, in an order that is always the same; once the
    /// task is cancelled, of those that had ended before. The configuration was read from `file`, and `failed` names
    /// what the offline check found wrong in it.
    package static func run(
        _ configuration: Configuration, from file: String? = nil, failed: Set<String> = [],
        waits: (String) -> Void, found: (CheckLine) throws -> Void
    ) async throws {
        waits("service: waiting for its answer")
        let answer = await RunningService(configuration).ask()
        let service: StatusReport? = if case .report(let report, _) = answer { report } else { nil }
        let isSilent = if case .mute = answer { true } else { false }
        let isOurs = isSilent || service?.vehicle == configuration.vehicle.description
        let hasOutbox = await onThread(named: "check") { isOurs && uses(configuration.outbox.path, service) }
        if let service {
            let doubt = await onThread(named: "check") {
                file.flatMap { ConfigurationInForce.doubt(service, file: $0) }
            }
            try found(Self.service(service, isOurs: isOurs, doubt: doubt))
        }
        switch answer {
        case .stranger(let words), .mute(let words): try found(CheckLine(.fail, "service", words))
        case .report, .nobody: break
        }
        waits("outbox: waiting for it to open")
        // Alone, for root is its owner meanwhile.
        let store = await unlessCancelled {
            hasOutbox
                ? outbox(of: service, configuration)
                : await outbox(configuration, hasFailed: failed.contains("outbox"))
        }
        if let store { try found(store) }
        async let answers = unlessCancelled { await tokenAndFleetEngine(configuration) }
        async let trip = unlessCancelled { await tripToken(configuration) }
        async let finding = unlessCancelled {
            isOurs
                ? ReceiverFinding(line: receiver(of: service), isHeard: isHeard(service?.receiver.kind))
                : await receiver(configuration)
        }
        waits(
            "receiver: waiting for a fix, up to \(longestWait(for: configuration.receiver.source).components.seconds) s"
        )
        let heard = await finding
        let others =
            heard?.isHeard == true
            ? await onThread(named: "check") { otherReaders(configuration, beside: isOurs ? service : nil) } : nil
        func tell(_ line: CheckLine?) throws {
            for line in [line, others].compactMap(\.self) { try found(line) }
        }
        if heard?.unjudged == nil { try tell(heard?.line) }
        waits("token and Fleet Engine: waiting for their answers")
        let answered = await answers
        if heard?.unjudged != nil { try tell(heard?.line(by: answered?.ahead)) }
        for line in answered?.lines ?? [] { try found(line) }
        if let line = await trip ?? nil { try found(line) }
    }

    /// What `check` finds; `nil` when it was cancelled meanwhile, for it may have found no more than that.
    private static func unlessCancelled<Finding: Sendable>(
        _ check: @Sendable () async -> Finding
    ) async -> Finding? {
        let finding = await check()
        return Task.isCancelled ? nil : finding
    }

    private static func service(_ report: StatusReport, isOurs: Bool, doubt: String?) -> CheckLine {
        let service = "waypost \(report.version) runs, up for \(Duration.seconds(report.uptimeSeconds).spoken)"
        guard isOurs else {
            return CheckLine(
                .note, "service",
                "\(service), for another vehicle, \(report.vehicle)"
                    + (doubt.map { "; \($0)" } ?? "; where this one is meant, type systemctl restart waypost"))
        }
        if let doubt { return CheckLine(.note, "service", "\(service); \(doubt)") }
        return CheckLine(.ok, "service", "\(service); it is asked for receiver and outbox, which are in its hands")
    }
}

/// The outbox.
extension OnlineCheck {
    private static func outbox(_ configuration: Configuration, hasFailed: Bool) async -> CheckLine {
        let path = configuration.outbox.path
        if hasFailed { return CheckLine(.skip, "outbox", "\(path) is not opened, as it cannot be used (above)") }
        // Where this user may not look, there may be one.
        let isMissing: Bool
        do throws(SystemError) { isMissing = try FileSystem.entry(at: path) == nil } catch { isMissing = false }
        if isMissing { return CheckLine(.skip, "outbox", "\(path) is not there yet: the service makes it") }
        do throws(SystemError) {
            return try await EffectiveUser.asOwner(ofFolderOf: path) { await opened(configuration) }
        } catch {
            return CheckLine(.fail, "outbox", error.description)
        }
    }

    private static func opened(_ configuration: Configuration) async -> CheckLine {
        let path = configuration.outbox.path
        guard configuration.expectedUser == EffectiveUser.current else {
            return CheckLine(
                .skip, "outbox",
                "\(path) is not opened: only \(FileStatus.words(configuration.expectedUser)) may; run this as root (sudo)"
            )
        }
        if let shortage = OfflineCheck.shortage(at: FileSystem.parent(of: path)) { return shortage }
        do {
            // Without its lock: the service may start meanwhile.
            let ledger = try OutboxReader(path: path).summary().ledger
            try OutboxVehicle(besideOutbox: path).require(configuration.vehicle, ledger)
            return CheckLine(.ok, "outbox", "\(path) opens, \(pending(ledger))")
        } catch {
            return CheckLine(.fail, "outbox", error.description)
        }
    }

    /// Whether the outbox of the service is the one at `path`, as far as it says; it may go by another file, or by what
    /// this one said before.
    private static func uses(_ path: String, _ service: StatusReport?) -> Bool {
        guard let other = service?.outbox?.path else { return true }
        return other == FileSystem.destination(of: path) || FileSystem.isSameFile(other, path)
    }

    private static func outbox(of service: StatusReport?, _ configuration: Configuration) -> CheckLine {
        guard let service else { return CheckLine(.skip, "outbox", "the service does not answer") }
        let path = configuration.outbox.path
        if let problem = service.conditions.first(where: { $0.stage == .outbox && $0.severity == .error }) {
            return CheckLine(.fail, "outbox", problem.line)
        }
        return CheckLine(.ok, "outbox", "\(path) is used by the service, \(pending(service.ledger))")
    }

    private static func pending(_ ledger: Ledger) -> String { "\(ledger.pending.counted("update")) pending" }
}

/// The receiver.
extension OnlineCheck {
    /// How long a receiver may take to its first fix here, once it is heard; and one that is not heard, to be heard.
    private static let patience = (
        fix: Duration.seconds(30), sentence: Duration.seconds(15), rejection: Duration.seconds(5)
    )

    private static func longestWait(for source: ReceiverConfiguration.Source) -> Duration {
        if case .serial(_, .automatic) = source { return patience.fix + BaudRate.longestSearch }
        return patience.fix
    }

    /// What the service that has the receiver says of it.
    package static func receiver(of service: StatusReport?) -> CheckLine {
        guard let receiver = service?.receiver else {
            return CheckLine(.skip, "receiver", "the service does not answer")
        }
        func failing(_ text: String) -> CheckLine { CheckLine(.fail, "receiver", "\(receiver.state); \(text)") }
        let age = receiver.secondsSinceFix
        let fix = age.map { "the service had its last fix \($0) s ago" } ?? "the service has had no fix yet"
        let conditions = service?.conditions ?? []
        if let problem = conditions.first(where: { $0.stage == .receiver && $0.severity != .info }) {
            return failing("\(fix); \(problem.line)")
        }
        // A receiver that is well gives one each second or so.
        guard receiver.kind == ReceiverState.Kind.receiving.rawValue, let age,
            age <= Int(patience.fix / .seconds(1))
        else { return failing("\(fix)\(sky(receiver.kind))") }
        return CheckLine(.ok, "receiver", "\(receiver.state); \(fix), \(receiver.quality ?? "of unknown quality")")
    }

    private static func sky(_ kind: String) -> String {
        isHeard(kind) ? "; check the antenna's view of the sky" : ""
    }

    /// Whether sentences come in a state of this kind.
    private static func isHeard(_ kind: String?) -> Bool {
        [ReceiverState.Kind.receiving, .noPosition].contains { $0.rawValue == kind }
    }

    /// Who else has the receiver's serial line open, beside the `service` that is asked for it.
    private static func otherReaders(_ configuration: Configuration, beside service: StatusReport?) -> CheckLine? {
        guard case .serial(let device, _) = configuration.receiver.source else { return nil }
        var others = HoldingProcess.others(withDevice: device)
        if let service {
            let outbox = service.outbox?.path ?? configuration.outbox.path
            guard let owner = OutboxConfiguration.owner(ofOutboxAt: outbox) else { return nil }
            others.removeAll { $0.processID == owner.processID }
        }
        guard !others.isEmpty else { return nil }
        return CheckLine(
            .note, "receiver",
            "each byte goes to one reader, and \(device) is also open in "
                + HoldingProcess.explanation(of: others, for: device))
    }

    private static func receiver(_ configuration: Configuration) async -> ReceiverFinding {
        let source = configuration.makeSource(present: { UTCTime.synchronizedSystem ?? Release.date })
        let longest = longestWait(for: configuration.receiver.source)
        let last = Locked(FirstFixWait())
        let failure = Locked<String?>(nil)
        let (events, sink) = AsyncStream.makeStream(of: FixSourceEvent.self, bufferingPolicy: .bufferingNewest(64))
        return await withTaskGroup(of: Void.self, returning: ReceiverFinding.self) { group in
            group.addTask {
                do throws(FixSourceError) {
                    try await source.run { sink.yield($0) }
                } catch {
                    if error.code != .cancelled { failure.withLock { $0 = "\(error)" } }
                }
                sink.finish()
            }
            group.addTask {
                let clock = MonotonicClock(ContinuousClock())
                await clock.sleep(for: patience.sentence)
                // One that is not there, or silent, is not waited for any longer.
                if last.withLock({ $0.state?.kind }) != .waiting { await clock.sleep(for: longest - patience.sentence) }
                sink.finish()
            }
            let fix = await firstFix(events, noting: last)
            group.cancelAll()
            let wait = last.withLock { $0 }
            guard let fix else {
                let reason = failure.withLock { $0 } ?? wait.absence(within: longest)
                return ReceiverFinding(
                    line: CheckLine(.fail, "receiver", reason), isHeard: isHeard(wait.state?.kind.rawValue))
            }
            let present = UTCTime.synchronizedSystem
            let detail = discovery(wait.state)
            let isRecorded = configuration.readsRecording
            let line = verdict(on: fix, present: isRecorded ? nil : present, detail: detail)
            return ReceiverFinding(
                line: line, isHeard: true,
                unjudged: isRecorded || present != nil ? nil : (fix, UTCTime.system, detail))
        }
    }

    /// The receiver's line, and the fix that no clock has judged.
    private struct ReceiverFinding: Sendable {
        let line: CheckLine
        /// Whether sentences come; where they do not, the line names whoever else has it open.
        let isHeard: Bool
        /// A fix with this host's time when it came, where nothing keeps that right.
        var unjudged: (fix: Fix, at: UTCTime, detail: String)?

        /// The line when Fleet Engine's clock, so far ahead of this host's, judges the fix; else the host's own.
        func line(by fleetEngineAhead: Duration?) -> CheckLine {
            guard let unjudged else { return line }
            return OnlineCheck.verdict(
                on: unjudged.fix, present: unjudged.at.advanced(by: fleetEngineAhead ?? .zero),
                by: fleetEngineAhead == nil ? .ownUnkept : .fleetEngine, detail: unjudged.detail)
        }
    }

    /// The clock that a receiver's time is held against.
    package enum Witness: String, Sendable {
        case ownSynchronized = "this machine's, which is synchronized"
        case ownUnkept = "this machine's, which nothing keeps right"
        case fleetEngine = "Fleet Engine's"

        fileprivate var remedy: String {
            switch self {
            case .ownSynchronized, .fleetEngine:
                ": switch the receiver off and on, and if that does not help, replace its firmware or itself"
            case .ownUnkept: ": one of the two is wrong; set this machine's clock (timedatectl), and check again"
            }
        }
    }

    /// What a fix that has just come is worth; `present` is the time by the clock of `witness`.
    package static func verdict(
        on fix: Fix, present: UTCTime?, by witness: Witness = .ownSynchronized, detail: String = ""
    ) -> CheckLine {
        let quality = fix.satellitesUsed.map { $0.counted("satellite") } ?? "quality \(fix.quality.rawValue)"
        let words = "fix of \(fix.timeOfFix), \(quality)\(detail)"
        let lag = present.map { fix.timeOfFix.duration(to: $0) } ?? .zero
        let difference = max(lag, .zero - lag)
        guard difference > .seconds(60) else { return CheckLine(.ok, "receiver", words) }
        let side = lag > .zero ? "behind" : "ahead of"
        return CheckLine(
            .note, "receiver",
            "\(words); its time is \(difference.spoken) \(side) \(witness.rawValue)"
                + (isZone(difference) ? ": it may state local time; set it to UTC" : witness.remedy))
    }

    /// Whether `difference` is that of a time zone, to a minute: they are quarters of an hour apart, up to 14 hours.
    private static func isZone(_ difference: Duration) -> Bool {
        let seconds = difference.components.seconds
        let quarter = Int64(900)
        let rest = seconds % quarter
        return (1740...50_460).contains(seconds) && min(rest, quarter - rest) <= 60
    }

    private static func firstFix(_ events: AsyncStream<FixSourceEvent>, noting last: Locked<FirstFixWait>) async
        -> Fix?
    {
        for await event in events {
            if case .fix(let fix) = event { return fix }
            last.withLock { $0.note(event) }
        }
        return nil
    }

    /// What the receiver's line proved to be, if that had to be found out.
    private static func discovery(_ state: ReceiverState?) -> String {
        guard let state, case .receiving(_, .some) = state else { return "" }
        return ", \(state.wording().cause)"
    }
}

/// What a receiver has told while its first fix is waited for.
package struct FirstFixWait: Sendable {
    fileprivate private(set) var state: ReceiverState?
    /// What it sends in place of a fix.
    private var cause: ReceiverWarning?

    package init() {}

    package mutating func note(_ event: FixSourceEvent) {
        switch event {
        case .state(let new): state = new
        case .warning(let warning) where warning.preventsFix: cause = warning
        case .warning, .sky, .progress, .fix: break
        }
    }

    /// Why there was no fix within `limit`.
    package func absence(within limit: Duration) -> String {
        guard let state else { return "no answer within \(limit.components.seconds) s" }
        if let cause, [.receiving, .noPosition, .ended].contains(state.kind) {
            return "\(state), but no fix within \(limit.components.seconds) s: \(Condition(cause).line)"
                + (cause == .dateTooEarly
                    ? "; a recorded log is read with \"type\": \"file\", or by waypost replay" : "")
        }
        guard case .receiving = state else { return "\(state)" }
        return "\(state), but no fix yet within \(limit.components.seconds) s; check the antenna's view of the sky"
    }
}

/// The token, and with it Fleet Engine.
extension OnlineCheck {
    /// The lines, and how far Fleet Engine's clock is ahead of this host's.
    private static func tokenAndFleetEngine(
        _ configuration: Configuration
    ) async -> (lines: [CheckLine], ahead: Duration?) {
        let report: TokenReport
        do { report = try await TokenReport.fetch(configuration) } catch {
            return ([CheckLine(.fail, "token", error.detail), unasked], nil)
        }
        guard report.verdict.fits else { return ([CheckLine(.fail, "token", report.summary), unasked], nil) }
        let (line, ahead) = await vehicle(configuration, token: report.rawToken)
        return ([CheckLine(.ok, "token", report.summary), line], ahead)
    }

    private static let unasked = CheckLine(.skip, "Fleet Engine", "not asked: there is no token that fits")

    /// The line, and how far Fleet Engine's clock is ahead of this host's.
    private static func vehicle(
        _ configuration: Configuration, token: String
    ) async -> (line: CheckLine, ahead: Duration?) {
        do {
            let request = HTTPRequest(
                .get, try configuration.vehicle.url(at: configuration.upload.endpoint),
                headers: HTTPHeaders(["Authorization": "Bearer " + token]),
                limits: HTTPLimits(total: configuration.upload.timeout))
            let response = try await configuration.makeTransport().send(request)
            let outcome = DeliveryOutcome(of: response, to: request, for: configuration.vehicle)
            // A portal that answers in its place tells no time.
            guard outcome == .delivered else { return (CheckLine(.fail, "Fleet Engine", reason(outcome)), nil) }
            let way = configuration.upload.proxy.map { " through the proxy \($0.origin)" } ?? ""
            let line = CheckLine(
                .ok, "Fleet Engine", "\(configuration.upload.endpoint.origin) knows \(configuration.vehicle)\(way)")
            // A simulator on this machine has this machine's clock.
            let isHere = HTTPURL.isLoopback(configuration.upload.endpoint.host)
            let time = isHere ? nil : response.headers["Date"].flatMap(UTCTime.init(httpDate:))
            return (line, time.map { UTCTime.system.duration(to: $0) })
        } catch let error as HTTPTransportError {
            let outcome = DeliveryOutcome(of: error, from: configuration.upload.endpoint.origin)
            return (CheckLine(.fail, "Fleet Engine", reason(outcome)), nil)
        } catch { return (CheckLine(.fail, "Fleet Engine", "\(error)"), nil) }
    }

    /// What is wrong with the answer about the vehicle, with the remedy.
    package static func reason(_ outcome: DeliveryOutcome) -> String {
        guard let condition = Condition(outcome) else { return "" }
        guard case .rejected = outcome else { return condition.line.description }
        return
            "\(condition.cause); nothing but the vehicle was asked for: correct vehicle.providerId, vehicle.vehicleId, "
            + "vehicle.service or upload.endpoint"
    }
}

/// The token of a trip.
extension OnlineCheck {
    private static func hasTripTokens(_ configuration: Configuration) -> Bool {
        configuration.consumerAuthorization != nil && configuration.vehicle.service == .onDemandTrips
    }

    /// Whether `consumerAuthorization` gives tokens; `nil` where there is nothing to try.
    ///
    /// The configuration names no trip, so one is asked for that does not exist: a backend that looks its trips up
    /// refuses it, which proves that it answers and no more.
    private static func tripToken(_ configuration: Configuration) async -> CheckLine? {
        guard hasTripTokens(configuration) else { return nil }
        func line(_ verdict: CheckLine.Verdict, _ text: String) -> CheckLine { CheckLine(verdict, "trip token", text) }
        do throws(AgentError) {
            switch try await TokenReport.ask(configuration, trip: "waypost-check") {
            case .success(let report): return line(report.verdict.fits ? .ok : .fail, report.summary)
            case .failure(let error) where error.code == .refused:
                return line(
                    .note,
                    "\(error); the trip asked for does not exist, try one that does: waypost token --trip ID")
            case .failure(let error): return line(.fail, "\(error)")
            }
        } catch { return line(.fail, error.detail) }
    }
}
