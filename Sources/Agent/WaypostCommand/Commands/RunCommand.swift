import Waypost

/// `waypost run`: the service.
struct RunCommand {
    private let file: String
    private let configuration: Configuration
    private let recordingFolder: String?

    init(_ arguments: Arguments) throws {
        file = arguments.configurationFile
        configuration = try arguments.configuration()
        recordingFolder = arguments.value("--record")
    }

    /// Until stopped; at each of `reloads` the configuration is read anew.
    func run(_ reloads: AsyncStream<Void>) async throws -> ExitStatus {
        try await Agent(configuration, recordingFolder: recordingFolder)
            .run(reloading: ReloadRequests(file: file, requests: reloads))
        return .done
    }
}
