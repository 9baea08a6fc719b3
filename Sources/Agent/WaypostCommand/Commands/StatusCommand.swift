import GNSS
import LinuxPlatform
import LocationReporting
import ReportedText
import TimeAndChance
import Waypost

/// `waypost status`: what the running service reports of itself, as a page or as JSON.
struct StatusCommand {
    private let service: RunningService
    private let asJSON: Bool

    init(_ arguments: Arguments) throws {
        asJSON = arguments.has("--json")
        service = RunningService(try arguments.serviceConfiguration())
    }

    func run() async throws -> ExitStatus {
        let (report, json) = try await service.report()
        let diagnosis = report.why(at: .system)
        if asJSON {
            let text = String(decoding: json, as: UTF8.self)
            try StandardOutput.write(line: text.last == "\n" ? String(text.dropLast()) : text)
        } else {
            try StandardOutput.write(line: StatusPage(report, diagnosis).text)
        }
        return diagnosis.isWell ? .done : .failed
    }
}

/// What `waypost status` prints for people.
struct StatusPage {
    let text: String

    init(_ report: StatusReport, _ diagnosis: Diagnosis) {
        func ago(_ seconds: Int?) -> String { seconds.map { "\(Duration.seconds($0).spoken) ago" } ?? "none yet" }
        var lines = LabelledLines()
        lines.add(heading: diagnosis.text)
        lines.add("vehicle", [report.vehicle])
        lines.add("service", ["waypost \(report.version), up for \(Duration.seconds(report.uptimeSeconds).spoken)"])
        lines.add("receiver", wrapped: report.receiver.state)
        let quality = report.receiver.quality.map { ", \($0)" } ?? ""
        lines.add("last fix", [ago(report.receiver.secondsSinceFix) + quality])
        for warning in report.receiver.warnings { lines.add("warning", wrapped: warning) }
        lines.add("delivery", [ago(report.delivery.secondsSinceDelivery)])
        if let trouble = report.delivery.trouble { lines.add("trouble", wrapped: trouble) }
        if let reason = report.delivery.memoryOnly { lines.add("memory only", wrapped: reason) }
        if let seconds = report.delivery.nextAttemptSeconds, seconds > 0 {
            lines.add("next attempt", ["in \(Duration.seconds(seconds).spoken)"])
        }
        if let trouble = report.delivery.tokenTrouble { lines.add("token", wrapped: trouble) }
        let ledger = report.ledger
        lines.add(
            "ledger",
            wrapped: "accepted \(ledger.accepted) = delivered \(ledger.delivered) + pending \(ledger.pending) "
                + "+ evicted \(ledger.evicted) + quarantined \(ledger.quarantined)")
        lines.add(
            "since start",
            wrapped: "\(report.fixes.counted("fix", "fixes")), \(report.requests.counted("request")), "
                + "\(report.retries.counted("retry", "retries")), \(report.tokenFetches.counted("token")), "
                + "\(report.bytesSent.counted("byte")) sent, \(report.bytesReceived.grouped) received")
        let repairs = report.repairs.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        lines.add("repairs", wrapped: repairs.joined(separator: ", "))
        if let stall = report.lastStall {
            lines.add("last run", wrapped: "ended itself at \(stall.time): \(stall.reason)")
        }
        text = lines.lines.joined(separator: "\n")
    }
}
