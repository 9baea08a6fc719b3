import LinuxPlatform
import TimeAndChance
import Waypost

/// `waypost why`: why the running service sends nothing and what to do, or that all is well.
struct WhyCommand {
    private let service: RunningService

    init(_ arguments: Arguments) throws {
        service = RunningService(try arguments.serviceConfiguration())
    }

    func run() async throws -> ExitStatus {
        let diagnosis = try await service.report().report.why(at: .system)
        try StandardOutput.write(line: diagnosis.text)
        return diagnosis.isWell ? .done : .failed
    }
}
