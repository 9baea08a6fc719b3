import LinuxPlatform
import Reporting
import Operations

/// The entry point of the command line. It finds the command, runs it, and converts errors to messages and exit codes.
enum WaypostCommand {
    /// The commands that run until a signal stops them. If a signal stops any other command, the command reports that
    /// it was interrupted.
    private static let serviceCommands: Set = ["run", "simulator"]

    /// Runs the command and returns how the process must end. Each of `reloads` makes `waypost run` read its
    /// configuration again.
    static func run(_ words: [String], reloads: ReloadRequests) async -> ServiceEnding {
        do {
            if words.first == "run", let arguments = try arguments(of: words) {
                return try await RunCommand(arguments).run(reloads)
            }
            return .exit(try await dispatch(words).rawValue)
        } catch {
            let status = reportFailure(error, of: words)
            if words.first == "run", status == .badConfiguration { await RestartPause.wait() }
            return status.map { .exit($0.rawValue) } ?? .interrupted
        }
    }

    /// Reports why the command failed and returns the exit status; `nil` if a signal interrupted the command.
    private static func reportFailure(_ error: any Error, of words: [String]) -> ExitStatus? {
        switch error {
        case let interruption as Interruption:
            Terminal.say("waypost: \(interruption)")
            return nil
        case let error as UsageError:
            Terminal.say("waypost: \(error)")
            return .usage
        case let error as ConfigurationError:
            for problem in error.problems { Terminal.say("waypost: \(problem)") }
            return .badConfiguration
        case let error as SystemError where error.isBrokenPipe:
            return .done  // the reader has closed the pipe, as `head` does
        case _ where Task.isCancelled && !serviceCommands.contains(words.first ?? ""):
            // After a signal, any failure is a consequence of the signal.
            Terminal.say("waypost: \(Interruption("not finished"))")
            return nil
        case let error as AgentError:
            Terminal.say("waypost: \(error)")
            return ExitStatus(error.code)
        case let error as FixSourceError:
            Terminal.say("waypost: \(error)")
            return .badInput
        default:
            Terminal.say("waypost: \(error)")
            return .failed
        }
    }

    private static func dispatch(_ words: [String]) async throws -> ExitStatus {
        guard let name = words.first else {
            Terminal.say(HelpText.overview)
            return .usage
        }
        switch name {
        case "--version":
            try StandardOutput.write(line: "waypost \(Release.version)")
            return .done
        case "--help", "-h": return try HelpCommand(topic: words.dropFirst().first).run()
        case Shell.completionCommand:
            for line in Completion(of: Array(words.dropFirst())).lines { try StandardOutput.write(line: line) }
            return .done
        default: break
        }
        guard let arguments = try arguments(of: words) else { return try HelpCommand(topic: name).run() }
        switch name {
        case "replay": return try await ReplayCommand(arguments).run()
        case "demo": return try await DemoCommand(arguments).run()
        case "simulator": return try await SimulatorCommand(arguments).run()
        case "fixes": return try await FixesCommand(arguments).run()
        case "map": return try await MapCommand(arguments).run()
        case "watch": return try await WatchCommand(arguments).run()
        case "check": return try await CheckCommand(arguments).run()
        case "config": return try ConfigCommand(arguments).run()
        case "token": return try await TokenCommand(arguments).run()
        case "status": return try await StatusCommand(arguments).run()
        case "why": return try await WhyCommand(arguments).run()
        case "conditions": return try ConditionsCommand(arguments).run()
        case "bundle": return try await BundleCommand(arguments).run()
        case "outbox": return try await OutboxCommand(arguments).run()
        case "completions": return try write(\Shell.completions, namedBy: arguments)
        case "manual": return try write(\ManualPage.text, namedBy: arguments)
        default: return try HelpCommand(topic: arguments.operands.first).run()
        }
    }

    /// Returns the arguments of a command; `nil` if they ask for help.
    private static func arguments(of words: [String]) throws -> Arguments? {
        let command = try CommandCatalog.command(named: words.first ?? "")
        let rest = Array(words.dropFirst())
        if rest.contains("--help") || rest.contains("-h") { return nil }
        return try Arguments(rest, for: command)
    }

    /// Prints the text that the operand names, and returns the exit status. The operand is valid, because `Arguments`
    /// has checked it.
    private static func write<Name: RawRepresentable<String>>(
        _ text: KeyPath<Name, String>, namedBy arguments: Arguments
    ) throws -> ExitStatus {
        for name in arguments.operands.compactMap(Name.init(rawValue:)) {
            try StandardOutput.write(line: name[keyPath: text])
        }
        return .done
    }
}

/// An error that says that a signal interrupted a command, and how far the command had got.
struct Interruption: Error, Sendable, CustomStringConvertible {
    private let progress: String

    init(_ progress: String) { self.progress = progress }

    var description: String { "interrupted: \(progress)" }
}

extension ExitStatus {
    init(_ code: AgentError.Code) {
        switch code {
        case .configuration: self = .badConfiguration
        case .inputData: self = .badInput
        case .unavailable: self = .unavailable
        }
    }
}
