import LinuxPlatform
import ReportedText
import Reporting
import TrackDrawing
import Operations

/// `waypost status`: shows the running service's status as text, as JSON, or as a live view on the terminal.
struct StatusCommand {
    private let service: RunningService
    private let asJSON: Bool
    private let isWatching: Bool

    init(_ arguments: Arguments) throws {
        asJSON = arguments.has("--json")
        isWatching = arguments.has("--watch")
        guard !isWatching || !asJSON else {
            throw UsageError("--watch is for people and --json for programs; remove one", command: "status")
        }
        guard !isWatching || LiveView.isPossible else {
            throw UsageError(
                "--watch needs a terminal; for a program or a file, use status --json",
                command: "status")
        }
        service = try arguments.runningService()
    }

    func run() async throws -> ExitStatus {
        if isWatching {
            try await LiveView(service).run()
            return .done
        }
        let (report, json) = try await service.report()
        let notice = await onThread(named: "configuration") { service.notice(about: report) }
        if let notice { Terminal.say("waypost: \(notice)") }
        if asJSON {
            let text = String(decoding: json, as: UTF8.self)
            try StandardOutput.write(line: text.last == "\n" ? String(text.dropLast()) : text)
        } else {
            try WhyCommand.write(report.verdict(at: .system))
            for line in StatusPage.facts(report, width: LabelledLines.width) { try StandardOutput.write(line: line) }
        }
        return report.isWell && notice == nil ? .done : .failed
    }
}

/// The facts that `waypost status` prints after the verdict.
enum StatusPage {
    /// Returns the facts as lines of at most `width` characters. Each fact begins with its label.
    static func facts(_ report: StatusReport, width: Int) -> [String] {
        func ago(_ seconds: Int?) -> String {
            seconds.map { "\(Duration.seconds($0).humanReadable) ago" } ?? "none yet"
        }
        var lines = LabelledLines(width: width)
        lines.add("vehicle", [report.vehicle])
        lines.add(
            "service", ["waypost \(report.version), up for \(Duration.seconds(report.uptimeSeconds).humanReadable)"])
        if let seconds = report.privateSeconds {
            lines.add("private", ["for \(Duration.seconds(seconds).humanReadable)"])
        }
        lines.add("receiver", wrapped: report.receiver.state)
        lines.add(
            "last fix",
            wrapped: ([ago(report.receiver.secondsSinceFix)] + quality(of: report.receiver)).joined(separator: ", "))
        if let reporting = report.reporting { lines.add("updates", wrapped: reporting) }
        let earlier =
            report.delivery.timeOfFix.map { "none since the start; the last delivered fix is from \($0)" } ?? "none yet"
        let delivery =
            report.delivery.secondsSinceDelivery.map { "\(Duration.seconds($0).humanReadable) ago" } ?? earlier
        lines.add("delivery", wrapped: delivery)
        if let seconds = report.delivery.nextAttemptSeconds, seconds > 0 {
            lines.add("next attempt", ["in \(Duration.seconds(seconds).humanReadable)"])
        }
        let ledger = report.ledger
        let outbox = report.outbox
        if let bytes = outbox.usedBytes, let limit = outbox.maximumBytes {
            let oldest =
                outbox.oldestPendingSeconds.map { ", the oldest \(Duration.seconds($0).humanReadable) old" } ?? ""
            lines.add(
                "queue",
                wrapped: "\(ledger.pending.counted("update"))\(oldest); \(FigureText.bytes(Int(bytes))) of "
                    + "\(FigureText.bytes(Int(limit)))")
        }
        if let token = report.token { lines.add("token", wrapped: text(for: token)) }
        if let offset = report.host.clockOffsetSeconds, abs(offset) > 1 {
            lines.add("clock", ["\(Duration.seconds(offset).humanReadable) \(offset > 0 ? "ahead" : "behind")"])
        }
        if let memory = report.host.residentBytes, let disk = report.host.freeDiskBytes {
            lines.add(
                "host",
                ["\(FigureText.bytes(Int(memory))) of memory used, \(FigureText.bytes(Int(disk))) of disk free"])
        }
        lines.add(
            "ledger",
            wrapped: "accepted \(ledger.accepted) = delivered \(ledger.delivered) + pending \(ledger.pending) "
                + "+ evicted \(ledger.evicted) + quarantined \(ledger.quarantined)")
        let counts = report.counts
        lines.add(
            "since start",
            wrapped: "\(counts.fixes.counted("fix", plural: "fixes")), \(counts.requests.counted("request")), "
                + "\(counts.retries.counted("retry", plural: "retries")), \(counts.tokenFetches.counted("token request")), "
                + "\(counts.bytesSent.counted("byte")) sent, \(counts.bytesReceived.grouped) received")
        let stageBypasses = counts.stageBypasses.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        lines.add("bypasses", wrapped: stageBypasses.joined(separator: ", "))
        return lines.lines
    }

    /// Returns the quality of the last fix. Values that the receiver doesn't report are left out.
    private static func quality(of receiver: StatusReport.Receiver) -> [String] {
        let used = receiver.satellitesUsed.map { used in
            receiver.satellitesInView.map { "\(used) of \($0) satellites" } ?? used.counted("satellite")
        }
        return [
            receiver.quality, used, receiver.hdop.map { "HDOP \(FigureText.decimal($0, places: 1))" },
            receiver.accuracyMeters.map { "±\(FigureText.accuracy($0))" },
        ].compactMap(\.self)
    }

    private static func text(for token: StatusReport.Token) -> String {
        let life = token.secondsLeft.map { "in use for another \(Duration.seconds($0).humanReadable)," } ?? "no token"
        let rejection = token.lastRejection.map { reason in
            let ago = token.lastRejectionSecondsAgo.map { " \(Duration.seconds($0).humanReadable) ago" } ?? ""
            return "; last failure\(ago): \(reason)"
        }
        return "\(life) from \(token.provider)\(rejection ?? "")"
    }
}
