import LinuxPlatform
import Operations
import Waypost

/// `waypost run`: the service.
struct RunCommand {
    private let file: String
    private let configuration: Configuration
    private let recordingDirectory: String?
    /// The state that the previous program image has passed on; `nil` unless the process has re-executed its program.
    private let last: Handover?

    /// Reads the configuration, or uses the one that the previous program image has validated.
    init(_ arguments: Arguments) throws {
        file = arguments.configurationFile
        last = NextImage.received.flatMap(Handover.init(message:))
        configuration =
            if let last { try Configuration(document: last.document, file: file) } else {
                try arguments.configuration()
            }
        recordingDirectory = arguments.value("--record")
    }

    /// Runs until stopped, or until the process must re-execute its program.
    func run(_ requests: ReloadRequests) async throws -> ServiceEnding {
        let agent = Agent(configuration, recordingDirectory: recordingDirectory)
        let next = try await agent.run(reloading: ReloadSource(file: file, requests: requests), after: last)
        guard let next else { return .exit(ExitStatus.done.rawValue) }
        guard let message = next.message else { return .exit(ExitStatus.failed.rawValue) }
        return .execute(NextImage(message: message))
    }
}
