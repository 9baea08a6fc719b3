import Glibc
import LinuxPlatform
import ReportedText
import TimeAndChance
package import VehicleAuthorization

/// A provider that runs a program, which prints the bare token, or JSON like an endpoint's answer.
///
/// The program runs without a shell, in a small environment: `PATH`, `HOME`, `LANG`, the configured variables (for
/// example a proxy), and `WAYPOST_PROVIDER_ID`. `WAYPOST_VEHICLE_ID`, `WAYPOST_TASK_ID`, `WAYPOST_TRIP_ID` and
/// `WAYPOST_TRACKING_ID` are set if the context has a value for them.
package final class CommandTokenProvider: TokenProvider {
    private let arguments: [String]
    private let section: String
    private let environment: [String: Secret]
    private let processEnvironment: [String: String]
    private let providerID: String
    private let format: TokenAnswerFormat
    private let timeLimit: Duration
    private let wallClock: @Sendable () -> Double
    private let present: @Sendable () -> Double?
    private let report: @Sendable (AuthorizationWarning) -> Void
    /// Whether processes that a run left behind have been reported. Processes of later runs are reported when they
    /// prevent a start.
    private let hasReportedStrays = Locked(false)

    /// - Parameters:
    ///   - arguments: program and arguments, in which `{vehicleId}` and the other placeholders are replaced unchanged.
    ///   - section: the section of the configuration, for errors.
    ///   - environment: variables to add. Their values are removed from the program's messages.
    ///   - processEnvironment: the source of values that are kept in variables.
    ///   - providerID: the value of `{providerId}`.
    ///   - format: the place of the token in JSON output.
    ///   - timeLimit: the time after which the program and its group are killed.
    ///   - wallClock: returns the time in seconds since 1970, which may shorten a token's lifetime.
    ///   - present: returns the same time if something keeps the clock right, otherwise `nil`. It can show that a token
    ///     has expired.
    ///   - report: called once if a run leaves a process behind, and once if `/proc` hides processes.
    /// - Throws: `.misconfigured` if no program is specified.
    package init(
        arguments: [String], section: String = "authorization", environment: [String: Secret] = [:],
        processEnvironment: [String: String] = ProcessEnvironment.variables, providerID: String,
        format: TokenAnswerFormat = TokenAnswerFormat(), timeLimit: Duration = .seconds(15),
        wallClock: @escaping @Sendable () -> Double = { UTCTime.system.secondsSince1970 },
        present: @escaping @Sendable () -> Double? = { nil },
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
        self.present = present
        self.report = report
        if ChildTable.cannotFindChildren {
            report(.processesHidden(command: program))
        }
    }

    package func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer {
        let placeholders = Placeholders(providerID: providerID, context: context)
        var expanded: [String] = []
        for argument in arguments {
            expanded.append(try placeholders.expanding(argument, .verbatim, name: "\(section).command"))
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
        let said = Self.informativeLines(outcome, secrets)
        if let failure = failure(outcome, origin, said) { throw AuthorizationError(failure) }
        if !said.isEmpty, AnswerKind(outcome.standardOutput) == .nothing {
            throw AuthorizationError(.unusableAnswer(origin, .nothingPrinted(said: said)))
        }
        return try TokenAnswer(
            outcome.standardOutput,
            from: .init(from: origin, localTime: wallClock(), present: present(), secrets: secrets), format: format)
    }

    private func startFailure(_ error: SystemError, of program: String) async -> AuthorizationError {
        let key = "\(section).command"
        if error.number == EAGAIN || error.number == ENOMEM {
            return AuthorizationError(.noResources(key, "\(error.reason)"))
        }
        // The error names no file. The missing file may be the program, or `/dev/null`, which is its standard input.
        if error.number == ENOENT, !ChildProcess.hasNullDevice {
            return AuthorizationError(.programUnusable(key: key, .noNullDevice))
        }
        let found = await onThreadIfAny(named: "waypost-program") {
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
            report(.processesLeft(command: source.place, count: remains.unended, unendable: first))
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
        _ outcome: ChildProcess.Outcome, _ origin: TokenOrigin, _ said: [ReportedText]
    ) -> TokenFault? {
        let output = CommandFault.Output(lines: said, hasOutput: !outcome.standardOutput.isEmpty)
        return switch outcome.ending {
        case .exited(0): nil
        case .exited(let status): .commandFailed(origin, .exited(Int(status), output))
        case .signalled(let signal): .commandFailed(origin, .signalled(Int(signal), output))
        case .timedOut: .commandFailed(origin, .timedOut(timeLimit, output))
        case .tooMuchOutput: .commandFailed(origin, .tooMuchOutput)
        case .stillRuns(let processID): .commandFailed(origin, .stillRuns(processID: Int(processID)))
        case .isBeingEnded(let count): .commandFailed(origin, .isBeingEnded(count))
        case .cancelled: .cancelled
        }
    }

    /// Returns up to two lines of standard error, shortened and free of secrets: the last line that mentions an error
    /// and the last line, or, if no line mentions an error, the last line and the first.
    private static func informativeLines(_ outcome: ChildProcess.Outcome, _ secrets: [String]) -> [ReportedText] {
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

    /// Whether a word of `line` is, or ends with, one that programs use for failures (`ValueError`).
    private static func mentionsError(_ line: ReportedText) -> Bool {
        line.description.lowercased().split { !$0.isLetter }.contains { word in
            ["error", "errors", "fatal", "failed", "denied"].contains(word) || word.hasSuffix("error")
                || word.hasSuffix("exception")
        }
    }
}
