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
package import TimeAndRandomness
import VehicleAuthorization

/// A trial of a configuration with the service's own code: first the outbox, then the receiver, the token and Fleet
/// Engine concurrently.
///
/// If the service is running, it has the receiver and the outbox open. The check then asks the service about them
/// instead of opening them.
package enum OnlineCheck {
    /// Returns the names of the checks, in the order of their results.
    package static func checkNames(for configuration: Configuration) -> [String] {
        ["outbox", "receiver", "token", "Fleet Engine"] + (hasTripTokens(configuration) ? ["trip token"] : [])
    }

    /// Runs all checks, which take half a minute. Finding an unknown baud rate takes longer, and a service that doesn't
    /// respond takes ten seconds more.
    ///
    /// - Parameters:
    ///   - configuration: the configuration.
    ///   - file: the file that the configuration was read from.
    ///   - failedChecks: the names of the offline checks that failed.
    ///   - willWait: called before each wait, with a description of it.
    ///   - didCheck: called with the result line of each check, always in the same order. If the task is cancelled, it
    ///     receives only the results of checks that had already finished.
    /// - Throws: any error that `didCheck` throws.
    package static func run(
        _ configuration: Configuration, from file: String? = nil, failedChecks: Set<String> = [],
        willWait: (String) -> Void, didCheck: (CheckLine) throws -> Void
    ) async throws {
        willWait("service: waiting for its answer")
        let answer = await RunningService(configuration).requestStatus()
        let service: StatusReport? = if case .report(let report, _) = answer { report } else { nil }
        let isSilent = if case .unresponsive = answer { true } else { false }
        let isOurs = isSilent || service?.vehicle == configuration.vehicle.description
        let hasOutbox = await onThread(named: "check") {
            isOurs && isOutboxUsed(at: configuration.outbox.path, by: service)
        }
        if let service {
            let difference = await onThread(named: "check") {
                file.flatMap { ConfigurationComparison.difference(of: $0, from: service) }
            }
            try didCheck(serviceLine(service, isOurs: isOurs, difference))
        }
        switch answer {
        case .otherProgram(let words):
            try didCheck(CheckLine(.fail, "service", words, code: .statusAddressUnavailable))
        case .unresponsive(let words): try didCheck(CheckLine(.fail, "service", words))
        case .report, .notRunning: break
        }
        willWait("outbox: waiting for it to open")
        // No other check may run at the same time, because root assumes the rights of the outbox's owner during this
        // check.
        let store = await unlessCancelled {
            hasOutbox
                ? outboxLine(of: service, configuration)
                : await outboxLine(configuration, hasFailed: failedChecks.contains("outbox"))
        }
        if let store { try didCheck(store) }
        async let answers = unlessCancelled { await checkTokenAndFleetEngine(configuration) }
        async let trip = unlessCancelled { await tripTokenLine(configuration) }
        async let finding = unlessCancelled {
            isOurs
                ? await checkReceiver(ofService: service, configuration) : await checkReceiver(configuration)
        }
        willWait(
            "receiver: waiting for a fix, up to \(maximumWait(for: configuration.receiver.source).components.seconds) s"
        )
        let receiverFinding = await finding
        let others =
            receiverFinding?.sendsSentences == true
            ? await onThread(named: "check") { otherReadersLine(configuration, besides: isOurs ? service : nil) } : nil
        let zones = (receiverFinding?.distantZones).flatMap {
            $0.isEmpty ? nil : CheckLine(.note, "reporting", Condition(distantZones: $0))
        }
        func report(_ line: CheckLine?) throws {
            for line in [line, others, zones].compactMap(\.self) { try didCheck(line) }
        }
        if receiverFinding?.uncheckedFix == nil { try report(receiverFinding?.line) }
        willWait("token and Fleet Engine: waiting for their answers")
        let answered = await answers
        if receiverFinding?.uncheckedFix != nil {
            try report(receiverFinding?.line(fleetEngineAhead: answered?.fleetEngineAhead))
        }
        for line in answered?.lines ?? [] { try didCheck(line) }
        if let line = await trip ?? nil { try didCheck(line) }
    }

    /// Returns the result of `check`. Returns `nil` if the task was cancelled during the check, because the
    /// cancellation may have affected the result.
    private static func unlessCancelled<Finding: Sendable>(
        _ check: @Sendable () async -> Finding
    ) async -> Finding? {
        let finding = await check()
        return Task.isCancelled ? nil : finding
    }

    private static func serviceLine(
        _ report: StatusReport, isOurs: Bool, _ difference: OnlineFinding.OtherConfiguration?
    ) -> CheckLine {
        let service =
            "waypost \(report.version) is running (up \(Duration.seconds(report.uptimeSeconds).humanReadable))"
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
    private static func outboxLine(_ configuration: Configuration, hasFailed: Bool) async -> CheckLine {
        let path = configuration.outbox.path
        if hasFailed {
            return CheckLine(.skip, "outbox", "\(path) was not opened, because it can't be used (see above)")
        }
        // An error doesn't prove that the outbox is missing, because this user may not be able to see it.
        let isMissing: Bool
        do throws(SystemError) { isMissing = try FileSystem.entry(at: path) == nil } catch { isMissing = false }
        if isMissing { return CheckLine(.skip, "outbox", "\(path) does not exist yet; the service creates it") }
        do throws(SystemError) {
            return try await EffectiveUser.asOwner(ofDirectoryOf: path) { await checkOpeningOutbox(configuration) }
        } catch {
            return CheckLine(.fail, "outbox", error.description)
        }
    }

    private static func checkOpeningOutbox(_ configuration: Configuration) async -> CheckLine {
        let path = configuration.outbox.path
        guard configuration.expectedUser == EffectiveUser.current else {
            let user = FileStatus.name(ofUser: configuration.expectedUser)
            return CheckLine(.skip, "outbox", .outboxForbidden(path: path, user: user))
        }
        if let line = OfflineCheck.shortageLine(forOutboxIn: FileSystem.parent(of: path)) { return line }
        do {
            // The check doesn't take the outbox's lock, so that the service can start during the check.
            let ledger = try OutboxReader(path: path).summary().ledger
            try OutboxVehicle(forOutbox: path).require(configuration.vehicle, ledger: ledger)
            return CheckLine(.ok, "outbox", "\(path) can be opened, \(pendingText(ledger))")
        } catch {
            return CheckLine(
                .fail, "outbox", error.wording(isForTool: true).sentence.description, code: Condition(error).code)
        }
    }

    /// Returns whether the service uses the outbox at `path`, rather than the outbox of another configuration. A
    /// service that doesn't report its outbox is assumed to use this one.
    private static func isOutboxUsed(at path: String, by service: StatusReport?) -> Bool {
        guard let other = service?.outbox.path else { return true }
        return other == FileSystem.destination(of: path) || FileSystem.isSameFile(other, path)
    }

    private static func outboxLine(of service: StatusReport?, _ configuration: Configuration) -> CheckLine {
        guard let service else { return CheckLine(.skip, "outbox", "the service does not answer") }
        let path = configuration.outbox.path
        if let problem = service.conditions.first(where: { $0.stage == .outbox && $0.severity == .error }) {
            return CheckLine(.fail, "outbox", problem.line, code: ConditionCode(rawValue: problem.code))
        }
        return CheckLine(.ok, "outbox", "\(path) is used by the service, \(pendingText(service.ledger))")
    }

    private static func pendingText(_ ledger: Ledger) -> String { "\(ledger.pending.counted("update")) pending" }
}

/// The check of the receiver.
extension OnlineCheck {
    /// The time limits for a receiver's first fix, for its first sentence, and for a rejection.
    private static let timeLimits = (
        fix: Duration.seconds(30), sentence: Duration.seconds(15), rejection: Duration.seconds(5)
    )

    private static func maximumWait(for source: ReceiverConfiguration.Source) -> Duration {
        if case .serial(_, .automatic) = source { return timeLimits.fix + BaudRate.maximumSearchTime }
        return timeLimits.fix
    }

    /// Checks the receiver that the service has open. A service that has just started gets time for its first fix.
    private static func checkReceiver(
        ofService first: StatusReport?, _ configuration: Configuration
    ) async -> ReceiverFinding {
        let clock = MonotonicClock(ContinuousClock())
        var service = first
        while let report = service, mayGetFirstFix(report), !Task.isCancelled {
            await clock.sleep(for: .seconds(1))
            guard case .report(let next, _) = await RunningService(configuration).requestStatus() else { break }
            service = next
        }
        return ReceiverFinding(
            line: receiverLine(of: service), sendsSentences: sendsSentences(inState: service?.receiver.kind))
    }

    /// Whether the receiver of a service that has just started sends sentences, but the service has had no fix yet. The
    /// time limit is that of a receiver that the check opens itself.
    package static func mayGetFirstFix(_ service: StatusReport) -> Bool {
        sendsSentences(inState: service.receiver.kind) && service.receiver.secondsSinceFix == nil
            && Duration.seconds(service.uptimeSeconds) < timeLimits.fix
    }

    /// Returns the line about the receiver, based on the status of the service that has the receiver open.
    package static func receiverLine(of service: StatusReport?) -> CheckLine {
        guard let service else { return CheckLine(.skip, "receiver", "the service does not answer") }
        let receiver = service.receiver
        if let problem = service.conditions.first(where: { $0.stage == .receiver && $0.severity != .info }) {
            // The state would repeat this condition's cause and remedy.
            let isState = problem.code == ConditionCode.receiverUnavailable.rawValue
            return CheckLine(
                .fail, "receiver", (isState ? "" : "\(receiver.state); ") + problem.line,
                code: ConditionCode(rawValue: problem.code))
        }
        // A working receiver sends about one fix per second, so an old fix is a problem.
        guard receiver.kind == ReceiverState.Kind.receiving.rawValue, let age = receiver.secondsSinceFix,
            age <= Int(timeLimits.fix / .seconds(1))
        else {
            let finding = OnlineFinding.staleFix(
                state: ReportedText(receiver.state, limit: ReportedText.maximumSentenceLength),
                ReceiverState.Kind(rawValue: receiver.kind), age: receiver.secondsSinceFix)
            return CheckLine(.fail, "receiver", finding)
        }
        let quality = receiver.quality ?? "of unknown quality"
        return CheckLine(
            .ok, "receiver", "\(receiver.state); the service had its last fix \(age) s ago, \(quality)")
    }

    /// Returns whether the receiver sends sentences while its state is of this kind.
    private static func sendsSentences(inState kind: String?) -> Bool {
        [ReceiverState.Kind.receiving, .noPosition].contains { $0.rawValue == kind }
    }

    /// Returns a line about other programs than `service` that have opened the receiver's serial port; `nil` if there
    /// are none.
    private static func otherReadersLine(_ configuration: Configuration, besides service: StatusReport?) -> CheckLine? {
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

    private static func checkReceiver(_ configuration: Configuration) async -> ReceiverFinding {
        let source = configuration.makeSource(present: { UTCTime.synchronizedSystem ?? Release.date })
        let longest = maximumWait(for: configuration.receiver.source)
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
                // If no sentence has arrived by now, waiting longer for a fix is pointless.
                if last.withLock({ $0.state?.kind }) != .waiting {
                    await clock.sleep(for: longest - timeLimits.sentence)
                }
                sink.finish()
            }
            let fix = await firstFix(in: events, updating: last)
            group.cancelAll()
            let wait = last.withLock { $0 }
            guard let fix else {
                // The service would end because of the failure, so the failure has no condition.
                let line =
                    failure.withLock { $0 }.map { CheckLine(.fail, "receiver", $0) }
                    ?? CheckLine(.fail, "receiver", wait.noFixFinding(within: longest))
                return ReceiverFinding(
                    line: line, sendsSentences: sendsSentences(inState: wait.state?.kind.rawValue))
            }
            let present = UTCTime.synchronizedSystem
            let detail = foundBaudRateClause(wait.state)
            let isRecorded = configuration.readsRecording
            let line = fixLine(for: fix, present: isRecorded ? nil : present, detail: detail)
            let zones = configuration.reporting.privateZones
            let distant = zones.indices.filter { zones[$0].isImplausiblyFar(from: fix) }
            return ReceiverFinding(
                line: line, sendsSentences: true, distantZones: distant,
                uncheckedFix: isRecorded || present != nil ? nil : (fix, UTCTime.system, detail))
        }
    }

    /// The result of checking the receiver.
    private struct ReceiverFinding: Sendable {
        let line: CheckLine
        /// Whether the receiver sends sentences. If it doesn't, `line` already names the programs that have the
        /// receiver open.
        let sendsSentences: Bool
        /// The indices of private zones that are implausibly far from the fix.
        var distantZones: [Int] = []
        /// A fix whose time still has to be checked, and this host's time at its arrival; `nil` unless this host's
        /// clock is unsynchronised.
        var uncheckedFix: (fix: Fix, at: UTCTime, detail: String)?

        /// Returns the line, after comparing the time of an unchecked fix with Fleet Engine's clock. That clock is
        /// ahead of this host's clock by `fleetEngineAhead`. If `fleetEngineAhead` is `nil`, the fix is compared with
        /// this host's clock.
        func line(fleetEngineAhead: Duration?) -> CheckLine {
            guard let uncheckedFix else { return line }
            return OnlineCheck.fixLine(
                for: uncheckedFix.fix, present: uncheckedFix.at.advanced(by: fleetEngineAhead ?? .zero),
                by: fleetEngineAhead == nil ? .ownUnsynchronized : .fleetEngine, detail: uncheckedFix.detail)
        }
    }

    /// Returns the line about a fix that has just arrived. `present` is the current time according to `clock`.
    package static func fixLine(
        for fix: Fix, present: UTCTime?, by clock: OnlineFinding.Clock = .ownSynchronized, detail: String = ""
    ) -> CheckLine {
        let quality = fix.satellitesUsed.map { $0.counted("satellite") } ?? "quality \(fix.quality.rawValue)"
        let text = "fix of \(fix.timeOfFix), \(quality)\(detail)"
        let lag = present.map { fix.timeOfFix.duration(to: $0) } ?? .zero
        guard max(lag, .zero - lag) > .seconds(60) else { return CheckLine(.ok, "receiver", text) }
        return CheckLine(.note, "receiver", .wrongFixTime(fix: text, behind: lag, clock))
    }

    private static func firstFix(in events: AsyncStream<FixSourceEvent>, updating wait: Locked<FirstFixWait>) async
        -> Fix?
    {
        for await event in events {
            if case .fix(let fix) = event { return fix }
            wait.withLock { $0.note(event) }
        }
        return nil
    }

    /// Returns a clause about the baud rate if a search has found it; otherwise an empty string.
    private static func foundBaudRateClause(_ state: ReceiverState?) -> String {
        guard let state, case .receiving(_, .some) = state else { return "" }
        return ", \(state.wording().cause)"
    }
}

/// The state of a receiver during the wait for its first fix.
package struct FirstFixWait: Sendable {
    fileprivate private(set) var state: ReceiverState?
    /// A receiver's warning that explains why there is no fix; `nil` if there is none.
    private var cause: ReceiverWarning?

    package init() {}

    package mutating func note(_ event: FixSourceEvent) {
        switch event {
        case .state(let new): state = new
        case .warning(let warning) where warning.preventsFix: cause = warning
        case .warning, .sky, .progress, .fix: break
        }
    }

    /// Returns the finding for a receiver that hasn't sent a fix within `limit`.
    package func noFixFinding(within limit: Duration) -> OnlineFinding {
        guard let state else { return .noAnswer(within: limit) }
        let isExplained = [.receiving, .noPosition, .ended].contains(state.kind)
        return .noFix(state, cause: isExplained ? cause : nil, within: limit)
    }
}

/// The checks of the token and of Fleet Engine. The second one needs the token.
extension OnlineCheck {
    /// Returns the lines of both checks, and the time by which Fleet Engine's clock is ahead of this host's. The time
    /// is `nil` if it isn't known.
    private static func checkTokenAndFleetEngine(
        _ configuration: Configuration
    ) async -> (lines: [CheckLine], fleetEngineAhead: Duration?) {
        let report: TokenReport
        do { report = try await TokenReport.fetch(configuration) } catch {
            return ([CheckLine(.fail, "token", error.detail, code: error.condition), notQueried], nil)
        }
        let fits = report.verdict.fits
        let token = CheckLine(fits ? .ok : .fail, "token", report.summary, code: report.verdict.code)
        guard fits else { return ([token, notQueried], nil) }
        let (line, ahead) = await checkVehicle(configuration, token: report.rawToken)
        return ([token, line], ahead)
    }

    private static let notQueried = CheckLine(.skip, "Fleet Engine", "not queried: there is no suitable token")

    /// Returns the line about Fleet Engine, and the time by which Fleet Engine's clock is ahead of this host's. The
    /// time is `nil` if it isn't known.
    private static func checkVehicle(
        _ configuration: Configuration, token: String
    ) async -> (line: CheckLine, fleetEngineAhead: Duration?) {
        do {
            let request = HTTPRequest(
                .get, try configuration.vehicle.url(below: configuration.upload.endpoint),
                headers: HTTPHeaders(["Authorization": "Bearer " + token]),
                limits: HTTPLimits(total: configuration.upload.timeout))
            let response = try await configuration.makeTransport().send(request)
            let outcome = DeliveryOutcome(of: response, to: request, for: configuration.vehicle)
            // The time of any other response is ignored, because it may come from a captive portal rather than from
            // Fleet Engine.
            if let line = problemLine(of: outcome) { return (line, nil) }
            let route = configuration.upload.proxy.map { " through the proxy \($0.origin)" } ?? ""
            let line = CheckLine(
                .ok, "Fleet Engine", "\(configuration.upload.endpoint.origin) knows \(configuration.vehicle)\(route)")
            // A simulator on this machine uses this host's clock, so its time is ignored.
            let isHere = HTTPURL.isLoopback(configuration.upload.endpoint.host)
            let time = isHere ? nil : response.headers["Date"].flatMap(UTCTime.init(httpDate:))
            return (line, time.map { UTCTime.system.duration(to: $0) })
        } catch let error as HTTPTransportError {
            let outcome = DeliveryOutcome(of: error, from: configuration.upload.endpoint.origin)
            return (problemLine(of: outcome) ?? CheckLine(.fail, "Fleet Engine", "\(error)"), nil)
        } catch { return (CheckLine(.fail, "Fleet Engine", "\(error)"), nil) }
    }

    /// Returns the line about the request for the vehicle if the request has failed; otherwise `nil`.
    package static func problemLine(of outcome: DeliveryOutcome) -> CheckLine? {
        guard let condition = Condition(outcome) else { return nil }
        guard case .rejected = outcome else { return CheckLine(.fail, "Fleet Engine", condition) }
        return CheckLine(.fail, "Fleet Engine", .vehicleRejected(condition.cause))
    }
}

/// The check of a consumer token.
extension OnlineCheck {
    private static func hasTripTokens(_ configuration: Configuration) -> Bool {
        configuration.consumerAuthorization != nil && configuration.vehicle.service == .onDemandTrips
    }

    /// Checks that `consumerAuthorization` provides tokens. Returns `nil` if it isn't configured, or if the vehicle has
    /// no trips.
    ///
    /// The configuration doesn't name a trip, so the check requests a token for a trip that doesn't exist. If the
    /// backend looks up trips, it rejects the request, which proves only that it responds.
    private static func tripTokenLine(_ configuration: Configuration) async -> CheckLine? {
        guard hasTripTokens(configuration) else { return nil }
        func line(_ verdict: CheckLine.Verdict, _ text: String) -> CheckLine { CheckLine(verdict, "trip token", text) }
        do throws(AgentError) {
            switch try await TokenReport.request(configuration, trip: "waypost-check") {
            case .success(let report): return line(report.verdict.fits ? .ok : .fail, report.summary)
            case .failure(let error) where error.code == .refused:
                return CheckLine(.note, "trip token", .tripUnknown("\(error)"))
            case .failure(let error): return line(.fail, "\(error)")
            }
        } catch { return line(.fail, error.detail) }
    }
}
