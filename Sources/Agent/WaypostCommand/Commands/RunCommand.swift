import Waypost

/// `waypost run`: the service.
struct RunCommand {
    private let configuration: Configuration
    private let recordingFolder: String?

    init(_ arguments: Arguments) throws {
        configuration = try arguments.configuration()
        recordingFolder = arguments.value("--record")
    }

    func run() async throws -> ExitStatus {
        try await Agent(configuration, recordingFolder: recordingFolder).run()
        return .done
    }
}
