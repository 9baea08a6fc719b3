import Glibc
import LinuxPlatform
import ReportedText
import TimeAndRandomness
package import VehicleAuthorization

/// A provider that gets each token from a program. The program prints the bare token, or JSON in the form of an
/// endpoint's answer.
///
/// The program runs without a shell. Its environment contains only `PATH`, `HOME`, `LANG`, the configured variables
/// (for example a proxy), and `WAYPOST_PROVIDER_ID`. `WAYPOST_VEHICLE_ID`, `WAYPOST_TASK_ID`, `WAYPOST_TRIP_ID` and
/// `WAYPOST_TRACKING_ID` are added if the context has a value for them.
package final class CommandTokenProvider: TokenProvider {
    private let arguments: [String]
    private let section: String
    private let environment: [String: Secret]
    private let processEnvironment: [String: String]
    private let providerID: String
    private let format: TokenAnswerFormat
    private let timeLimit: Duration
    private let wallClock: @Sendable () -> Double
    private let synchronizedClock: @Sendable () -> Double?
    private let report: @Sendable (AuthorizationWarning) -> Void
    /// Whether a warning about processes that the program left running has been reported. After that, such processes
    /// are reported only if they prevent the next start, and then as an error.
    private let hasReportedStrays = Locked(false)

    /// - Parameters:
    ///   - arguments: the program and its arguments. `{vehicleId}` and the other placeholders are replaced by their
    ///     values, without any encoding.
    ///   - section: the section of the configuration that errors name.
    ///   - environment: the configured variables. Their values are removed from messages that quote the program.
    ///   - processEnvironment: Waypost's own environment, for configured values that come from its variables.
    ///   - providerID: the value for the placeholder `{providerId}`.
    ///   - format: the keys of the token and its expiry in JSON output.
    ///   - timeLimit: the time after which the program and its process group are killed.
    ///   - wallClock: returns this machine's time in seconds since 1970, from which a token's remaining lifetime is
    ///     estimated.
    ///   - synchronizedClock: returns the same time if the clock is synchronised, otherwise `nil`. Unlike `wallClock`,
    ///     it can show that a token has expired.
    ///   - report: called once if the program leaves processes running, and once if `/proc` doesn't show such
    ///     processes.
    /// - Throws: `.misconfigured` if no program is specified.
    package init(
        arguments: [String], section: String = "authorization", environment: [String: Secret] = [:],
        processEnvironment: [String: String] = ProcessEnvironment.variables, providerID: String,
        format: TokenAnswerFormat = TokenAnswerFormat(), timeLimit: Duration = .seconds(15),
        wallClock: @escaping @Sendable () -> Double = { UTCTime.system.secondsSince1970 },
        synchronizedClock: @escaping @Sendable () -> Double? = { nil },
        report: @escaping @Sendable (AuthorizationWarning) -> Void
    ) throws(AuthorizationError) {
        guard let program = arguments.first, !program.isEmpty else {
            throw AuthorizationError(.invalidSetting(key: "\(section).command", .noProgram))
        }
        self.arguments = arguments
        self.section = section
        self.environment = environment
        self.processEnvironment = processEnvironment
        self.providerID = providerID
        self.format = format
        self.timeLimit = timeLimit
        self.wallClock = wallClock
        self.synchronizedClock = synchronizedClock
        self.report = report
        if ChildTable.cannotFindChildren {
            report(.processesHidden(command: program))
        }
    }

    package func fetchAnswer(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer {
        let placeholders = Placeholders(providerID: providerID, context: context)
        var expanded: [String] = []
        for argument in arguments {
            expanded.append(try placeholders.expanding(argument, encoding: .verbatim, key: "\(section).command"))
        }
        let origin = TokenOrigin(
            .command, arguments[0], section: section, tokenKey: format.tokenKey, subject: context.subject)
        let added = try await addedVariables()
        let secrets = Array(added.values)
        let child = ChildProcess(
            arguments: expanded, environment: childEnvironment(for: context, adding: added), timeLimit: timeLimit)
        let outcome: ChildProcess.Outcome
        do { outcome = try await child.run() } catch { throw await startFailure(error, of: expanded[0]) }
        reportStrays(outcome.remains, of: origin)
        let lines = Self.informativeLines(of: outcome, without: secrets)
        if let failure = failure(of: outcome, from: origin, printing: lines) { throw AuthorizationError(failure) }
        if !lines.isEmpty, AnswerKind(outcome.standardOutput) == .nothing {
            throw AuthorizationError(.unusableAnswer(origin, .nothingPrinted(errorLines: lines)))
        }
        return try TokenAnswer(
            outcome.standardOutput,
            from: .init(source: origin, localTime: wallClock(), present: synchronizedClock(), secrets: secrets),
            format: format)
    }

    private func startFailure(_ error: SystemError, of program: String) async -> AuthorizationError {
        let key = "\(section).command"
        if error.number == EAGAIN || error.number == ENOMEM {
            return AuthorizationError(.resourcesExhausted(key, "\(error.reason)"))
        }
        // The system's error doesn't say which file is missing. It may be the program, or `/dev/null`, which is the
        // program's standard input.
        if error.number == ENOENT, !ChildProcess.hasNullDevice {
            return AuthorizationError(.programUnusable(key: key, .noNullDevice))
        }
        let found = await onThreadIfPossible(named: "waypost-program") {
            TokenProgram.problem(of: program, refusal: error.number)
        }
        let problem: ProgramFault =
            if case .success(let problem?) = found { problem } else { .notStarted(program, "\(error.reason)") }
        return AuthorizationError(.programUnusable(key: key, problem))
    }

    private func reportStrays(_ remains: ChildTable.Remains, of source: TokenOrigin) {
        let first = remains.refused.first.map { Int($0) }
        guard first != nil || remains.unended > 0 else { return }
        if !hasReportedStrays.withLock({ exchange(&$0, with: true) }) {
            report(.processesLeftRunning(command: source.place, count: remains.unended, unkillable: first))
        }
    }

    private func addedVariables() async throws(AuthorizationError) -> [String: String] {
        guard !environment.isEmpty else { return [:] }
        return try await readOnThread(named: "waypost-secret", for: "\(section).environment") {
            [environment, processEnvironment] () throws(AuthorizationError) in
            var values: [String: String] = [:]
            for (name, secret) in environment {
                values[name] = try secret.text(for: "variable \(name)", environment: processEnvironment)
            }
            return values
        }
    }

    private func childEnvironment(
        for context: AuthorizationContext, adding added: [String: String]
    ) -> [String: String] {
        var variables = ["PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LANG": "C.UTF-8"]
        variables.merge(added) { $1 }
        variables["WAYPOST_PROVIDER_ID"] = providerID
        variables["WAYPOST_VEHICLE_ID"] = context.vehicleID.isEmpty ? nil : context.vehicleID
        variables["WAYPOST_TASK_ID"] = context.taskID
        variables["WAYPOST_TRIP_ID"] = context.tripID
        variables["WAYPOST_TRACKING_ID"] = context.trackingID
        return variables
    }

    private func failure(
        of outcome: ChildProcess.Outcome, from origin: TokenOrigin, printing lines: [ReportedText]
    ) -> TokenFault? {
        let output = CommandFault.Output(lines: lines, hasOutput: !outcome.standardOutput.isEmpty)
        return switch outcome.ending {
        case .exited(0): nil
        case .exited(let status): .commandFailed(origin, .exited(Int(status), output))
        case .signalled(let signal): .commandFailed(origin, .signalled(Int(signal), output))
        case .timedOut: .commandFailed(origin, .timedOut(timeLimit, output))
        case .tooMuchOutput: .commandFailed(origin, .tooMuchOutput)
        case .stillRuns(let processID): .commandFailed(origin, .processStillRunning(processID: Int(processID)))
        case .isBeingEnded(let count): .commandFailed(origin, .processesEnding(count))
        case .cancelled: .cancelled
        }
    }

    /// Returns up to two lines of standard error, shortened and without secrets. Returns the last line that mentions an
    /// error, and the last line of all. If no line mentions an error, returns the last line and the first line.
    private static func informativeLines(of outcome: ChildProcess.Outcome, without secrets: [String]) -> [ReportedText]
    {
        let lines = outcome.standardError.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            .filter { !$0.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
        func reportedText(_ line: some Sequence<UInt8>) -> ReportedText {
            ReportedText(bytes: line, without: secrets, limit: 200)
        }
        guard let first = lines.first.map(reportedText), let last = lines.last.map(reportedText) else { return [] }
        if let error = lines.suffix(100).map(reportedText).last(where: mentionsError) {
            return error == last ? [last] : [error, last]
        }
        return lines.count > 1 ? [last, first] : [last]
    }

    /// Whether `line` contains a word that programs use for failures, such as `denied`, or one that ends with such a
    /// word, such as `ValueError`.
    private static func mentionsError(_ line: ReportedText) -> Bool {
        line.description.lowercased().split { !$0.isLetter }.contains { word in
            ["error", "errors", "fatal", "failed", "denied"].contains(word) || word.hasSuffix("error")
                || word.hasSuffix("exception")
        }
    }
}
