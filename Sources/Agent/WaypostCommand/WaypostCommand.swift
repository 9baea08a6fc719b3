import LinuxPlatform
import Reporting
import Waypost

/// The command line: finds the command, runs it, and turns what it throws into a message and an exit code.
enum WaypostCommand {
    /// These run until a signal stops them: that is their end, and no interruption.
    private static let services: Set = ["run", "simulator"]

    /// The exit status; `nil` when a signal ended the command before it was done.
    ///
    /// At each of `reloads` the service reads its configuration anew.
    static func run(_ words: [String], reloads: AsyncStream<Void>) async -> ExitStatus? {
        do {
            return try await dispatch(words, reloads)
        } catch let interruption as Interruption {
            Terminal.say("waypost: \(interruption)")
            return nil
        } catch let error as UsageError {
            Terminal.say("waypost: \(error)")
            return .usage
        } catch let error as ConfigurationError {
            for problem in error.problems { Terminal.say("waypost: \(problem)") }
            return .badConfiguration
        } catch let error as SystemError where error.isBrokenPipe {
            return .done  // the reader has seen enough, as in `waypost fixes | head`
        } catch _ where Task.isCancelled && !services.contains(words.first ?? "") {
            // What fails then fails because it was cut off; nothing else is to blame.
            let interruption = Interruption("before it was done")
            Terminal.say("waypost: \(interruption)")
            return nil
        } catch let error as AgentError {
            Terminal.say("waypost: \(error)")
            return ExitStatus(error.code)
        } catch let error as FixSourceError {
            Terminal.say("waypost: \(error)")
            return .badInput
        } catch {
            Terminal.say("waypost: \(error)")
            return .failed
        }
    }

    private static func dispatch(_ words: [String], _ reloads: AsyncStream<Void>) async throws -> ExitStatus {
        guard let name = words.first else {
            Terminal.say(HelpText.overview)
            return .usage
        }
        switch name {
        case "--version":
            try StandardOutput.write(line: "waypost \(Release.version)")
            return .done
        case "--help", "-h": return try HelpCommand(topic: words.dropFirst().first).run()
        default: break
        }
        let command = try CommandCatalog.command(named: name)
        let rest = Array(words.dropFirst())
        if rest.contains("--help") || rest.contains("-h") { return try HelpCommand(topic: name).run() }
        let arguments = try Arguments(rest, for: command)
        switch name {
        case "run": return try await RunCommand(arguments).run(reloads)
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
        case "bundle": return try await BundleCommand(arguments).run()
        case "outbox": return try await OutboxCommand(arguments).run()
        case "completions": return try write(\Shell.completions, namedBy: arguments)
        case "manual": return try write(\ManualPage.text, namedBy: arguments)
        default: return try HelpCommand(topic: arguments.operands.first).run()
        }
    }

    /// Prints the text whose name is the operand; the catalog lets no other word through.
    private static func write<Name: RawRepresentable<String>>(
        _ text: KeyPath<Name, String>, namedBy arguments: Arguments
    ) throws -> ExitStatus {
        for name in arguments.operands.compactMap(Name.init(rawValue:)) {
            try StandardOutput.write(line: name[keyPath: text])
        }
        return .done
    }
}

/// A signal has ended a command before it was done.
struct Interruption: Error, Sendable, CustomStringConvertible {
    /// How far it was.
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
