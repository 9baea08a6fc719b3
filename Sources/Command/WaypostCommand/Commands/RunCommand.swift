import LinuxPlatform
import Operations
import Waypost

/// `waypost run`: runs the service that reports the vehicle's position.
struct RunCommand {
    private let file: String
    private let configuration: Configuration
    private let recordingDirectory: String?
    /// The state that this process passed on when it re-executed its program; `nil` after a normal start.
    private let handover: Handover?

    /// Reads the configuration. After a re-execution, uses the configuration that the previous program image validated.
    init(_ arguments: Arguments) throws {
        file = arguments.configurationFile
        handover = NextImage.receivedMessage.flatMap(Handover.init(message:))
        configuration =
            if let handover { try Configuration(document: handover.document, file: file) } else {
                try arguments.configuration()
            }
        recordingDirectory = arguments.value("--record")
    }

    /// Runs the service until it is stopped or must re-execute its program. Returns how the service has ended.
    func run(_ requests: ReloadRequests) async -> ServiceEnding {
        let agent = Agent(configuration, recordingDirectory: recordingDirectory)
        let next: Handover?
        do {
            next = try await agent.run(reloading: ReloadSource(file: file, requests: requests), after: handover)
        } catch {
            return .exit(await report(error).rawValue)
        }
        guard let next else { return .exit(ExitStatus.done.rawValue) }
        guard let message = next.message else { return .exit(ExitStatus.failed.rawValue) }
        return .execute(NextImage(message: message))
    }

    /// Reports why the service has ended, and returns the exit status. In a JSON log, this line is JSON, too.
    private func report(_ error: AgentError) async -> ExitStatus {
        if configuration.log.format == .json {
            LogWriter(level: configuration.log.level, format: .json).write(error)
            await StandardError.finish()
        } else {
            Terminal.say("waypost: \(error)")
        }
        if error.code == .configuration { await RestartPause.wait() }
        return ExitStatus(error.code)
    }
}
