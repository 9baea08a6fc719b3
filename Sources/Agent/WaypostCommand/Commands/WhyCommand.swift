import LinuxPlatform
import StrictJSON
import TimeAndChance
import Waypost

/// `waypost why`: why the running service sends nothing and what to do, or that all is well.
struct WhyCommand {
    private let service: RunningService
    private let asJSON: Bool

    init(_ arguments: Arguments) throws {
        asJSON = arguments.has("--json")
        service = RunningService(try arguments.serviceConfiguration())
    }

    func run() async throws -> ExitStatus {
        let report = try await service.report().report
        let diagnosis = report.why(at: .system)
        try StandardOutput.write(line: asJSON ? try WhyReport(report, at: .system).json : diagnosis.text)
        return diagnosis.isWell ? .done : .failed
    }
}

/// What `waypost why --json` prints.
struct WhyReport: Encodable {
    let well: Bool
    let text: String
    let vehicle: String
    let troubles: [StatusReport.Trouble]

    init(_ report: StatusReport, at now: UTCTime) {
        let diagnosis = report.why(at: now)
        well = diagnosis.isWell
        text = diagnosis.text
        vehicle = report.vehicle
        troubles = report.troubles(at: now)
    }

    var json: String { get throws { try JSONValue(encoding: self).text } }
}
