import Conditions
import FleetEngine
import LinuxPlatform
import StrictJSON
import Operations

/// `waypost check`: checks a configuration before the vehicle leaves.
struct CheckCommand {
    private let arguments: Arguments
    private let isOnline: Bool
    private let asJSON: Bool

    init(_ arguments: Arguments) {
        self.arguments = arguments
        isOnline = arguments.has("--online")
        asJSON = arguments.has("--json")
    }

    func run() async throws -> ExitStatus {
        let options = (isOnline ? ["--online"] : []) + (asJSON ? ["--json"] : [])
        let place = await SandboxedCheck.place(forFile: arguments.configurationFile, arguments: options)
        if case .sandbox(let command) = place, let status = try await runInSandbox(command) { return status }
        let configuration: Configuration
        do throws(ConfigurationError) { configuration = try arguments.configuration() } catch {
            guard asJSON else { throw error }
            let lines = error.problems.map { CheckLine(.fail, "configuration", "\($0)") }
            return try report(lines, of: nil, status: .badConfiguration)
        }
        var lines: [CheckLine] = []
        func add(_ line: CheckLine) throws {
            lines.append(line)
            if !asJSON { try write(line) }
        }
        var reason: String?
        switch place {
        case .here: break
        case .outside(let why): reason = why
        case .sandbox: reason = "systemd-run failed; run journalctl -n 20 to see why"
        }
        if let reason { try add(CheckLine(.note, "service", "sandbox not checked: \(reason)")) }
        let offline = await onThread(named: "check") { [file = arguments.configurationFile] in
            OfflineCheck.lines(configuration, from: file)
        }
        let isComplete = !offline.contains { $0.verdict == .fail }
        if isComplete {
            let rest = isOnline ? "" : "; to also try the receiver, the token and Fleet Engine, add --online"
            try add(
                CheckLine(
                    .ok, "configuration",
                    "\(arguments.configurationFile) is complete: \(configuration.vehicle)\(rest)"))
        }
        for line in offline { try add(line) }
        var isAvailable = true
        if isOnline {
            var missing = OnlineCheck.checkNames(for: configuration)
            try await OnlineCheck.run(
                configuration, from: arguments.configurationFile,
                failedChecks: Set(offline.filter { $0.verdict == .fail }.map(\.name)), willWait: Terminal.draw
            ) { line in
                isAvailable = isAvailable && line.verdict != .fail
                missing.removeAll { $0 == line.name }
                try add(line)
            }
            Terminal.draw("")
            if Task.isCancelled, !missing.isEmpty {
                throw Interruption("not checked: \(missing.joined(separator: ", "))")
            }
        }
        return try report(
            lines, of: configuration, status: !isComplete ? .badConfiguration : isAvailable ? .done : .unavailable)
    }

    /// Runs the checks with `command`, in the sandbox that systemd sets up for the service. Returns their exit status;
    /// `nil` if they didn't run, for example because systemd could not start the process.
    private func runInSandbox(_ command: [String]) async throws -> ExitStatus? {
        Terminal.draw("service: waiting for the checks in its sandbox, up to 150 s")
        let outcome = try await ChildProcess(
            arguments: command, environment: ["PATH": "/usr/bin:/bin"], timeLimit: .seconds(160), outputLimit: 1 << 20
        ).run()
        Terminal.draw("")
        guard case .exited(let code) = outcome.ending, let status = ExitStatus(rawValue: code), status != .failed else {
            return nil
        }
        try StandardOutput.write(outcome.standardOutput)
        StandardError.write(outcome.standardError)
        return status
    }

    private func write(_ line: CheckLine) throws {
        Terminal.draw("")
        let verdict = line.verdict.rawValue
        try StandardOutput.write(
            verdict: verdict, "".padded(to: 6 - verdict.count) + "\(line.name.padded(to: 13))  \(line.text)")
    }

    /// Writes the result as JSON if `--json` is given, and returns `status`.
    private func report(
        _ lines: [CheckLine], of configuration: Configuration?, status: ExitStatus
    ) throws -> ExitStatus {
        guard asJSON else { return status }
        let checks = lines.map { line in
            let members: [String: JSONValue?] = [
                "verdict": .string(line.verdict.rawValue.lowercased()), "name": .string(line.name),
                "text": .string(line.text), "code": line.code.map { .string($0.rawValue) },
            ]
            return JSONValue.object(members.compactMapValues(\.self))
        }
        let members: [String: JSONValue?] = [
            "passed": .bool(status == .done), "online": .bool(isOnline),
            "configuration": .string(arguments.configurationFile),
            "vehicle": configuration.map { .string($0.vehicle.description) }, "checks": .array(checks),
        ]
        try StandardOutput.write(line: JSONValue.object(members.compactMapValues(\.self)).text)
        return status
    }
}
