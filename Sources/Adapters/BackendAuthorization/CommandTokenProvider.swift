import Glibc
import LinuxPlatform
import ReportedText
import TimeAndChance
package import VehicleAuthorization

/// Runs a program that prints a token: the bare token, or JSON as an endpoint would answer.
///
/// No shell is involved. The program gets a small environment: `PATH`, `HOME`, `LANG`, what the configuration adds (a
/// proxy, where it needs one), `WAYPOST_PROVIDER_ID`, and of `WAYPOST_VEHICLE_ID`, `WAYPOST_TASK_ID`,
/// `WAYPOST_TRIP_ID`, `WAYPOST_TRACKING_ID` those that the context has.
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
    /// Processes left behind are reported once; those of later runs when they keep the program from starting.
    private let hasReportedStrays = Locked(false)

    /// - Parameters:
    ///   - arguments: program and arguments; `{vehicleId}` and its like are replaced as they are.
    ///   - section: where the configuration has them, for errors.
    ///   - environment: variables to add; their values are struck out of what the program complains of.
    ///   - processEnvironment: where those by environment come from.
    ///   - providerID: replaces `{providerId}`.
    ///   - format: where the token stands when the output is JSON.
    ///   - timeLimit: after which the program and its group are ended.
    ///   - wallClock: seconds since 1970; shortens a token's life.
    ///   - present: the same while something keeps that clock right; ends a token.
    ///   - report: hears of a process left behind, and of a `/proc` that shows none, of each once.
    /// - Throws: `.misconfigured` when no program is named.
    package init(
        arguments: [String], section: String = "authorization", environment: [String: Secret] = [:],
        processEnvironment: [String: String] = ProcessEnvironment.variables, providerID: String,
        format: TokenAnswerFormat = TokenAnswerFormat(), timeLimit: Duration = .seconds(15),
        wallClock: @escaping @Sendable () -> Double = { UTCTime.system.secondsSince1970 },
        present: @escaping @Sendable () -> Double? = { nil },
        report: @escaping @Sendable (AuthorizationWarning) -> Void
    ) throws(AuthorizationError) {
        guard let program = arguments.first, !program.isEmpty else {
            throw AuthorizationError(.misconfigured, "\(section).command names no program; write [\"/path/to/it\"]")
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
            report(
                .brokenContract(
                    "/proc is another namespace's: what token command \(program) leaves behind is not found and keeps "
                        + "running; mount the right one (mount -t proc proc /proc)"))
        }
    }

    package func ask(for context: AuthorizationContext) async throws(AuthorizationError) -> TokenAnswer {
        let placeholders = Placeholders(providerID: providerID, context: context)
        var expanded: [String] = []
        for argument in arguments {
            expanded.append(try placeholders.expanding(argument, .verbatim, name: "\(section).command"))
        }
        let source = "token command \(arguments[0])"
        let added = try await addedVariables()
        let secrets = Array(added.values)
        let child = ChildProcess(
            arguments: expanded, environment: childEnvironment(for: context, adding: added), timeLimit: timeLimit)
        let outcome: ChildProcess.Outcome
        do { outcome = try await child.run() } catch {
            throw await startFailure(error, of: expanded[0], source)
        }
        tell(outcome.remains, of: source)
        if let failure = failure(outcome, source, secrets) { throw failure }
        if AnswerKind(outcome.standardOutput) == .nothing, let words = Self.complaint(outcome, secrets) {
            throw AuthorizationError(
                .unusableAnswer, "\(source) gave no token; expected it on its standard output. It said: \(words)")
        }
        return try TokenAnswer(
            outcome.standardOutput,
            from: .init(
                source: source, localTime: wallClock(), present: present(), secrets: secrets, means: .command,
                section: section, subject: context.subject),
            format: format)
    }

    private func startFailure(
        _ error: SystemError, of program: String, _ source: String
    ) async -> AuthorizationError {
        if error.number == EAGAIN || error.number == ENOMEM {
            return AuthorizationError(.unavailable, "\(source) cannot be started now: \(error.outOfResources)")
        }
        // The kernel names no file: it is the program, or what its standard input is taken from.
        if error.number == ENOENT, !ChildProcess.hasNullDevice {
            return AuthorizationError(
                .misconfigured,
                "\(source) cannot be started: \(error.reason); /dev/null is missing, make it (mknod -m 666 /dev/null c 1 3)"
            )
        }
        let found = await onThreadIfAny(named: "waypost-program") {
            TokenProgram.problem(of: program, refusal: error.number)
        }
        let problem = if case .success(let problem?) = found { problem } else { "\(error.reason); check it" }
        return AuthorizationError(.misconfigured, "\(source) cannot be started: \(section).command: \(problem)")
    }

    private func tell(_ remains: ChildTable.Remains, of source: String) {
        let words: String
        if let first = remains.refused.first {
            words =
                "\(source) left process \(first) running, which could not be ended; it is not started again before that "
                + "has ended, so end process \(first), and let the command end what it starts"
        } else if remains.unended > 0 {
            words =
                "\(source) left \(remains.unended) processes running, which are still being ended; it is not started "
                + "again before they have, so let the command end what it starts"
        } else {
            return
        }
        if !hasReportedStrays.withLock({ exchange(&$0, with: true) }) { report(.brokenContract(words)) }
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
        _ outcome: ChildProcess.Outcome, _ source: String, _ secrets: [String]
    ) -> AuthorizationError? {
        let silence =
            ", saying nothing on standard error"
            + (outcome.standardOutput.isEmpty
                ? "" : " (what it said on standard output may be a token, and is not shown)")
        let complaint =
            (Self.complaint(outcome, secrets).map { ": \($0)" } ?? silence) + "; run it by hand as the service's user"
        return switch outcome.ending {
        case .exited(0): nil
        case .exited(let status):
            AuthorizationError(.unavailable, "\(source) failed with status \(status)\(complaint)")
        case .signalled(let signal):
            AuthorizationError(.unavailable, "\(source) was ended by signal \(signal)\(complaint)")
        case .timedOut:
            AuthorizationError(
                .unavailable,
                "\(source) took longer than \(timeLimit.secondsText) and was ended\(complaint), or raise "
                    + "\(section).timeoutSeconds if it needs longer")
        case .tooMuchOutput:
            AuthorizationError(
                .unusableAnswer, "\(source) wrote more than 64 KiB; expected the token or a small JSON object")
        case .stillRuns(let processID):
            AuthorizationError(
                .unavailable,
                "\(source): process \(processID) of it could not be ended, as it runs as another user; it is not started "
                    + "again before that has ended, so end process \(processID)")
        case .isBeingEnded(let count):
            AuthorizationError(
                .unavailable,
                "\(source): processes of it are still being ended (\(count)), as they start others without end or wait "
                    + "for a device; it is not started again before they have")
        case .cancelled: AuthorizationError(.cancelled, "\(source) was ended because the token is no longer needed")
        }
    }

    /// The line of its standard error that says error, or its last, and then its last or first; each shortened, without
    /// secrets. `nil` when it said nothing.
    private static func complaint(_ outcome: ChildProcess.Outcome, _ secrets: [String]) -> String? {
        let lines = outcome.standardError.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            .filter { !$0.allSatisfy { $0 == 0x20 || $0 == 0x09 } }
        guard let first = lines.first, let last = lines.last else { return nil }
        func shown(_ line: some Sequence<UInt8>) -> String {
            ReportedText(bytes: line, without: secrets, limit: 200).description
        }
        if let error = lines.suffix(100).map(shown).last(where: saysError), error != shown(last) {
            return "\(error) (its last line: \(shown(last)))"
        }
        guard lines.count > 1, !saysError(shown(last)) else { return shown(last) }
        return "\(shown(last)) (its first line: \(shown(first)))"
    }

    /// Whether a word of it is, or ends with, one that programs use of a failure (`ValueError`).
    private static func saysError(_ line: String) -> Bool {
        line.lowercased().split { !$0.isLetter }.contains { word in
            ["error", "errors", "fatal", "failed", "denied"].contains(word) || word.hasSuffix("error")
                || word.hasSuffix("exception")
        }
    }
}
