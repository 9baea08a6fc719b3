import LinuxPlatform
import TimeAndChance
import Waypost

/// `waypost why`: why the running service sends nothing, or that all is well, in one sentence.
struct WhyCommand {
    private let service: RunningService

    init(_ arguments: Arguments) throws {
        service = RunningService(try arguments.value("--config").map { path in try Configuration(file: path) })
    }

    func run() async throws -> ExitStatus {
        try StandardOutput.write(line: try await service.report().report.why(at: .system))
        return .done
    }
}
