import LinuxPlatform
import StrictJSON
import TimeAndRandomness
import Operations

/// `waypost why`: prints the running service's active conditions with their remedies, or that all is well.
struct WhyCommand {
    private let service: RunningService
    private let asJSON: Bool

    init(_ arguments: Arguments) throws {
        asJSON = arguments.has("--json")
        service = try arguments.runningService()
    }

    func run() async throws -> ExitStatus {
        let report = try await service.report().report
        let notice = await onThread(named: "configuration") { service.notice(about: report) }
        if let notice { Terminal.say("waypost: \(notice)") }
        if asJSON {
            try StandardOutput.write(line: try WhyReport(report, isAsked: notice == nil).json)
        } else {
            if notice != nil { try StandardOutput.write(line: "the running service, \(report.vehicle):") }
            try Self.write(report.verdict(at: .system))
        }
        return report.isWell && notice == nil ? .done : .failed
    }

    /// Writes the verdict. On a terminal, the remedies are bold.
    static func write(_ verdict: Verdict) throws {
        let isShown = Colour.isShown(
            isTerminal: StandardOutput.isTerminal, environment: ProcessEnvironment.variables)
        for (number, lines) in verdict.paragraphs.enumerated() {
            if number > 0 { try StandardOutput.write(line: "") }
            for line in lines {
                let isBold = isShown && line.part == .remedy
                try StandardOutput.write(isBold ? "\u{1B}[1m" : "", line: line.text)
                if isBold { try StandardOutput.write(Array("\u{1B}[0m".utf8)) }
            }
        }
    }
}

/// The output of `waypost why --json`.
struct WhyReport: Encodable {
    let well: Bool
    let vehicle: String
    let conditions: [StatusReport.ReportedCondition]

    /// Creates the output. `isAsked` says whether the running service uses the given configuration.
    init(_ report: StatusReport, isAsked: Bool = true) {
        well = report.isWell && isAsked
        vehicle = report.vehicle
        conditions = report.conditions
    }

    var json: String { get throws { try JSONValue(encoding: self).text } }
}
