import Waypost

/// `waypost run`: the service.
struct RunCommand {
    private let configuration: Configuration

    init(_ arguments: Arguments) throws {
        configuration = try Configuration(file: arguments.value("--config") ?? "")
    }

    func run() async throws -> ExitStatus {
        try await Agent(configuration).run()
        return .done
    }
}
