package import Conditions
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

/// Tries everything in a configuration with the code that the service uses: the outbox first, then the rest
/// concurrently.
///
/// A running service has the receiver and the outbox open, so it is queried about them.
package enum OnlineCheck {
    /// Returns the names of the checks, in order.
    package static func names(_ configuration: Configuration) -> [String] {
        ["outbox", "receiver", "token", "Fleet Engine"] + (hasTripTokens(configuration) ? ["trip token"] : [])
    }

    /// Runs all checks, which takes half a minute, plus the time to find an unknown baud rate, plus ten seconds if a
    /// service doesn't answer.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - file: the file that the configuration was read from.
    ///   - failed: the names of the offline checks that failed.
    ///   - waits: called with a description of each wait.
    ///   - found: called with the line of each check, always in the same order. If the task is cancelled, it is called
    ///     only for the checks that had ended.
    /// - Throws: the error of `found`.
    package static func run(
        _ configuration: Configuration, from file: String? = nil, failed: Set<String> = [],
        waits: (String) -> Void, found: (CheckLine) throws -> Void
    ) async throws {
        waits("service: waiting for its answer")
        let answer = await RunningService(configuration).ask()
        let service: StatusReport? = if case .report(let report, _) = answer { report } else { nil }
        let isSilent = if case .unresponsive = answer { true } else { false }
        let isOurs = isSilent || service?.vehicle == configuration.vehicle.description
        let hasOutbox = await onThread(named: "check") {
            isOurs && isOutboxUsed(at: configuration.outbox.path, by: service)
        }
        if let service {
            let difference = await onThread(named: "check") {
                file.flatMap { ConfigurationComparison.difference(service, file: $0) }
            }
            try found(Self.service(service, isOurs: isOurs, difference))
        }
        switch answer {
        case .otherProgram(let words), .unresponsive(let words): try found(CheckLine(.fail, "service", words))
        case .report, .notRunning: break
        }
        waits("outbox: waiting for it to open")
        // This check isn't concurrent with others, because root acts as the outbox's owner meanwhile.
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
                ? ReceiverFinding(line: receiver(of: service), sendsSentences: sendsSentences(service?.receiver.kind))
                : await receiver(configuration)
        }
        waits(
            "receiver: waiting for a fix, up to \(longestWait(for: configuration.receiver.source).components.seconds) s"
        )
        let receiverFinding = await finding
        let others =
            receiverFinding?.sendsSentences == true
            ? await onThread(named: "check") { otherReaders(configuration, beside: isOurs ? service : nil) } : nil
        func report(_ line: CheckLine?) throws {
            for line in [line, others].compactMap(\.self) { try found(line) }
        }
        if receiverFinding?.unjudged == nil { try report(receiverFinding?.line) }
        waits("token and Fleet Engine: waiting for their answers")
        let answered = await answers
        if receiverFinding?.unjudged != nil { try report(receiverFinding?.line(by: answered?.ahead)) }
        for line in answered?.lines ?? [] { try found(line) }
        if let line = await trip ?? nil { try found(line) }
    }

    /// Returns the result of `check`; `nil` if the task was cancelled meanwhile, because the cancellation may have
    /// caused the result.
    private static func unlessCancelled<Finding: Sendable>(
        _ check: @Sendable () async -> Finding
    ) async -> Finding? {
        let finding = await check()
        return Task.isCancelled ? nil : finding
    }

    private static func service(
        _ report: StatusReport, isOurs: Bool, _ difference: OnlineFinding.OtherConfiguration?
    ) -> CheckLine {
        let service = "waypost \(report.version) is running (up \(Duration.seconds(report.uptimeSeconds).spoken))"
        guard isOurs else {
            return CheckLine(.note, "service", .otherVehicle(report.vehicle, difference, service: service))
        }
        if let difference {
            return CheckLine(.note, "service", .otherConfiguration(difference, service: service))
        }
        return CheckLine(
            .ok, "service", "\(service); it has the receiver and the outbox open and is queried about them")
    }
}

/// The check of the outbox.
extension OnlineCheck {
    private static func outbox(_ configuration: Configuration, hasFailed: Bool) async -> CheckLine {
        let path = configuration.outbox.path
        if hasFailed {
            return CheckLine(.skip, "outbox", "\(path) was not opened, because it can't be used (see above)")
        }
        // An outbox may exist that this user can't see.
        let isMissing: Bool
        do throws(SystemError) { isMissing = try FileSystem.entry(at: path) == nil } catch { isMissing = false }
        if isMissing { return CheckLine(.skip, "outbox", "\(path) does not exist yet; the service creates it") }
        do throws(SystemError) {
            return try await EffectiveUser.asOwner(ofDirectoryOf: path) { await checkOpening(configuration) }
        } catch {
            return CheckLine(.fail, "outbox", error.description)
        }
    }

    private static func checkOpening(_ configuration: Configuration) async -> CheckLine {
        let path = configuration.outbox.path
        guard configuration.expectedUser == EffectiveUser.current else {
            let user = FileStatus.name(ofUser: configuration.expectedUser)
            return CheckLine(.skip, "outbox", .outboxClosed(path: path, user: user))
        }
        if let shortage = OfflineCheck.shortage(at: FileSystem.parent(of: path)) { return shortage }
        do {
            // The outbox is opened without its lock, so that the service may start meanwhile.
            let ledger = try OutboxReader(path: path).summary().ledger
            try OutboxVehicle(forOutbox: path).require(configuration.vehicle, ledger)
            return CheckLine(.ok, "outbox", "\(path) can be opened, \(pending(ledger))")
        } catch {
            return CheckLine(.fail, "outbox", error.wording(isForTool: true).sentence.description)
        }
    }

    /// Returns whether the service's outbox is the one at `path`, as far as the service reports it. The service may use
    /// another configuration.
    private static func isOutboxUsed(at path: String, by service: StatusReport?) -> Bool {
        guard let other = service?.outbox.path else { return true }
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

/// The check of the receiver.
extension OnlineCheck {
    /// The time limits for a receiver's first fix, for its first sentence, and for a rejection.
    private static let timeLimits = (
        fix: Duration.seconds(30), sentence: Duration.seconds(15), rejection: Duration.seconds(5)
    )

    private static func longestWait(for source: ReceiverConfiguration.Source) -> Duration {
        if case .serial(_, .automatic) = source { return timeLimits.fix + BaudRate.maximumSearchTime }
        return timeLimits.fix
    }

    /// Returns the line about the receiver, according to the service that has it open.
    package static func receiver(of service: StatusReport?) -> CheckLine {
        guard let service else { return CheckLine(.skip, "receiver", "the service does not answer") }
        let receiver = service.receiver
        if let problem = service.conditions.first(where: { $0.stage == .receiver && $0.severity != .info }) {
            return CheckLine(.fail, "receiver", "\(receiver.state); \(problem.line)")
        }
        // A working receiver sends a fix about every second.
        guard receiver.kind == ReceiverState.Kind.receiving.rawValue, let age = receiver.secondsSinceFix,
            age <= Int(timeLimits.fix / .seconds(1))
        else {
            let finding = OnlineFinding.staleFix(
                state: ReportedText(receiver.state, limit: ReportedText.longestSentence),
                age: receiver.secondsSinceFix, isHeard: sendsSentences(receiver.kind))
            return CheckLine(.fail, "receiver", finding)
        }
        let quality = receiver.quality ?? "of unknown quality"
        return CheckLine(
            .ok, "receiver", "\(receiver.state); the service had its last fix \(age) s ago, \(quality)")
    }

    /// Returns whether sentences arrive in a state of this kind.
    private static func sendsSentences(_ kind: String?) -> Bool {
        [ReceiverState.Kind.receiving, .noPosition].contains { $0.rawValue == kind }
    }

    /// Returns a line about programs other than `service` that have the receiver's serial port open; `nil` if there are
    /// none.
    private static func otherReaders(_ configuration: Configuration, beside service: StatusReport?) -> CheckLine? {
        guard case .serial(let device, _) = configuration.receiver.source else { return nil }
        var others = HoldingProcess.others(withDevice: device)
        if let service {
            let outbox = service.outbox.path ?? configuration.outbox.path
            guard let owner = OutboxConfiguration.owner(ofOutboxAt: outbox) else { return nil }
            others.removeAll { $0.processID == owner.processID }
        }
        return DeviceHolders(others, of: device).map {
            CheckLine(.note, "receiver", .otherReaders(device: device, $0))
        }
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
                await clock.sleep(for: timeLimits.sentence)
                // The check doesn't wait longer for a receiver that is missing or silent.
                if last.withLock({ $0.state?.kind }) != .waiting {
                    await clock.sleep(for: longest - timeLimits.sentence)
                }
                sink.finish()
            }
            let fix = await firstFix(events, noting: last)
            group.cancelAll()
            let wait = last.withLock { $0 }
            guard let fix else {
                let reason = failure.withLock { $0 } ?? "\(wait.absence(within: longest).sentence)"
                return ReceiverFinding(
                    line: CheckLine(.fail, "receiver", reason),
                    sendsSentences: sendsSentences(wait.state?.kind.rawValue))
            }
            let present = UTCTime.synchronizedSystem
            let detail = discovery(wait.state)
            let isRecorded = configuration.readsRecording
            let line = verdict(on: fix, present: isRecorded ? nil : present, detail: detail)
            return ReceiverFinding(
                line: line, sendsSentences: true,
                unjudged: isRecorded || present != nil ? nil : (fix, UTCTime.system, detail))
        }
    }

    /// The line about the receiver, and the fix that no clock has judged, if any.
    private struct ReceiverFinding: Sendable {
        let line: CheckLine
        /// Whether sentences arrive. If not, the line already names the programs that have the receiver open.
        let sendsSentences: Bool
        /// A fix and this host's time at its arrival, if this host's clock isn't synchronized.
        var unjudged: (fix: Fix, at: UTCTime, detail: String)?

        /// Returns the line according to Fleet Engine's clock, which is ahead of this host's by `fleetEngineAhead`. If
        /// that is `nil`, this host's clock is used.
        func line(by fleetEngineAhead: Duration?) -> CheckLine {
            guard let unjudged else { return line }
            return OnlineCheck.verdict(
                on: unjudged.fix, present: unjudged.at.advanced(by: fleetEngineAhead ?? .zero),
                by: fleetEngineAhead == nil ? .ownUnsynchronized : .fleetEngine, detail: unjudged.detail)
        }
    }

    /// Returns the line about a fix that has just arrived. `present` is the time according to `clock`.
    package static func verdict(
        on fix: Fix, present: UTCTime?, by clock: OnlineFinding.Clock = .ownSynchronized, detail: String = ""
    ) -> CheckLine {
        let quality = fix.satellitesUsed.map { $0.counted("satellite") } ?? "quality \(fix.quality.rawValue)"
        let text = "fix of \(fix.timeOfFix), \(quality)\(detail)"
        let lag = present.map { fix.timeOfFix.duration(to: $0) } ?? .zero
        guard max(lag, .zero - lag) > .seconds(60) else { return CheckLine(.ok, "receiver", text) }
        return CheckLine(.note, "receiver", .fixTime(fix: text, behind: lag, clock))
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

    /// Returns a clause about the baud rate, if it had to be searched for; otherwise an empty text.
    private static func discovery(_ state: ReceiverState?) -> String {
        guard let state, case .receiving(_, .some) = state else { return "" }
        return ", \(state.wording().cause)"
    }
}

/// The state of a receiver during the wait for its first fix.
package struct FirstFixWait: Sendable {
    fileprivate private(set) var state: ReceiverState?
    /// A warning that explains why there is no fix.
    private var cause: ReceiverWarning?

    package init() {}

    package mutating func note(_ event: FixSourceEvent) {
        switch event {
        case .state(let new): state = new
        case .warning(let warning) where warning.preventsFix: cause = warning
        case .warning, .sky, .progress, .fix: break
        }
    }

    /// Returns the finding that there was no fix within `limit`.
    package func absence(within limit: Duration) -> OnlineFinding {
        guard let state else { return .noAnswer(within: limit) }
        let isExplained = [.receiving, .noPosition, .ended].contains(state.kind)
        return .noFix(state, cause: isExplained ? cause : nil, within: limit)
    }
}

/// The checks of the token and of Fleet Engine, which requires the token.
extension OnlineCheck {
    /// Returns the lines, and how far Fleet Engine's clock is ahead of this host's; `nil` if that isn't known.
    private static func tokenAndFleetEngine(
        _ configuration: Configuration
    ) async -> (lines: [CheckLine], ahead: Duration?) {
        let report: TokenReport
        do { report = try await TokenReport.fetch(configuration) } catch {
            return ([CheckLine(.fail, "token", error.detail), notQueried], nil)
        }
        guard report.verdict.fits else { return ([CheckLine(.fail, "token", report.summary), notQueried], nil) }
        let (line, ahead) = await vehicle(configuration, token: report.rawToken)
        return ([CheckLine(.ok, "token", report.summary), line], ahead)
    }

    private static let notQueried = CheckLine(.skip, "Fleet Engine", "not queried: there is no suitable token")

    /// Returns the line, and how far Fleet Engine's clock is ahead of this host's; `nil` if that isn't known.
    private static func vehicle(
        _ configuration: Configuration, token: String
    ) async -> (line: CheckLine, ahead: Duration?) {
        do {
            let request = HTTPRequest(
                .get, try configuration.vehicle.url(below: configuration.upload.endpoint),
                headers: HTTPHeaders(["Authorization": "Bearer " + token]),
                limits: HTTPLimits(total: configuration.upload.timeout))
            let response = try await configuration.makeTransport().send(request)
            let outcome = DeliveryOutcome(of: response, to: request, for: configuration.vehicle)
            // A captive portal that answers instead doesn't send Fleet Engine's time.
            guard outcome == .delivered else { return (CheckLine(.fail, "Fleet Engine", reason(outcome)), nil) }
            let route = configuration.upload.proxy.map { " through the proxy \($0.origin)" } ?? ""
            let line = CheckLine(
                .ok, "Fleet Engine", "\(configuration.upload.endpoint.origin) knows \(configuration.vehicle)\(route)")
            // A simulator on this machine has this machine's clock.
            let isHere = HTTPURL.isLoopback(configuration.upload.endpoint.host)
            let time = isHere ? nil : response.headers["Date"].flatMap(UTCTime.init(httpDate:))
            return (line, time.map { UTCTime.system.duration(to: $0) })
        } catch let error as HTTPTransportError {
            let outcome = DeliveryOutcome(of: error, from: configuration.upload.endpoint.origin)
            return (CheckLine(.fail, "Fleet Engine", reason(outcome)), nil)
        } catch { return (CheckLine(.fail, "Fleet Engine", "\(error)"), nil) }
    }

    /// Returns the problem with the answer about the vehicle, and the remedy.
    package static func reason(_ outcome: DeliveryOutcome) -> String {
        guard let condition = Condition(outcome) else { return "" }
        guard case .rejected = outcome else { return condition.line.description }
        return OnlineFinding.vehicleRejected(condition.cause).sentence.description
    }
}

/// The check of a trip's token.
extension OnlineCheck {
    private static func hasTripTokens(_ configuration: Configuration) -> Bool {
        configuration.consumerAuthorization != nil && configuration.vehicle.service == .onDemandTrips
    }

    /// Checks that `consumerAuthorization` provides tokens. Returns `nil` if there is nothing to try.
    ///
    /// The configuration contains no trip, so the check requests a token for a trip that doesn't exist. A backend that
    /// looks trips up rejects the request, which proves only that it answers.
    private static func tripToken(_ configuration: Configuration) async -> CheckLine? {
        guard hasTripTokens(configuration) else { return nil }
        func line(_ verdict: CheckLine.Verdict, _ text: String) -> CheckLine { CheckLine(verdict, "trip token", text) }
        do throws(AgentError) {
            switch try await TokenReport.ask(configuration, trip: "waypost-check") {
            case .success(let report): return line(report.verdict.fits ? .ok : .fail, report.summary)
            case .failure(let error) where error.code == .refused:
                return CheckLine(.note, "trip token", .tripUnknown("\(error)"))
            case .failure(let error): return line(.fail, "\(error)")
            }
        } catch { return line(.fail, error.detail) }
    }
}
