import GNSS
import LinuxPlatform
import Waypost

/// `waypost status` and `waypost why`: what the running service says of itself, as a page or in one sentence.
struct StatusCommand {
    private let service: RunningService
    private let asksWhy: Bool
    private let asJSON: Bool

    init(_ arguments: Arguments, asksWhy: Bool = false) throws {
        self.asksWhy = asksWhy
        asJSON = arguments.has("--json")
        service = RunningService(try arguments.value("--config").map { path in try Configuration(file: path) })
    }

    func run() async throws -> ExitStatus {
        let (report, json) = try await service.report()
        if asksWhy {
            try StandardOutput.write(line: report.why(at: .system))
        } else if asJSON {
            let text = String(decoding: json, as: UTF8.self)
            try StandardOutput.write(line: text.last == "\n" ? String(text.dropLast()) : text)
        } else {
            try StandardOutput.write(line: StatusPage(report, now: .system).text)
        }
        return .done
    }
}
