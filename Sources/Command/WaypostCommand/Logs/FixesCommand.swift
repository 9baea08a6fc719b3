import GNSS
import GNSSReceiver
import LinuxPlatform
import ReportedText
import Reporting

/// `waypost fixes`: decodes NMEA logs into fixes.
struct FixesCommand {
    private let logs: [String]
    private let format: FixesFormat
    private let wantsSummary: Bool
    private let explainedLine: String?
    private let acceptsMissingChecksum: Bool
    private let follows: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        logs = arguments.operands.isEmpty ? ["-"] : arguments.operands
        wantsSummary = arguments.has("--summary")
        explainedLine = arguments.value("--explain")
        acceptsMissingChecksum = arguments.has("--accept-missing-checksum")
        follows = arguments.has("--follow")
        let word = arguments.value("--format") ?? "jsonl"
        guard let format = FixesFormat(rawValue: word) else {
            let words = FixesFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--format is \(word); use one of \(words)", command: "fixes")
        }
        self.format = format
        let outputModes = [wantsSummary, explainedLine != nil, arguments.value("--format") != nil]
        guard outputModes.count(where: { $0 }) <= 1 else {
            throw UsageError(
                "--format, --summary and --explain exclude each other; remove all but one", command: "fixes")
        }
        if explainedLine.flatMap(Int.init) != nil, arguments.operands.count != 1 {
            throw UsageError("--explain with a line number needs exactly one LOG", command: "fixes")
        }
        if let line = explainedLine, Int(line) == nil, !line.contains(where: { $0 == "$" || $0 == "!" }) {
            throw UsageError(
                "--explain is \(line), which is neither a line number nor a sentence ($... or !...); put a sentence "
                    + "in single quotes, or the shell replaces the $", command: "fixes")
        }
        if follows, wantsSummary || explainedLine != nil {
            throw UsageError(
                "--follow never ends, but --summary and --explain need an end; remove one", command: "fixes")
        }
        if follows, let log = logs.last { try GrowingLog.require(log, command: "fixes") }
    }

    func run() async throws -> ExitStatus {
        if let line = explainedLine {
            return try await LineExplanation(
                line: line, log: logs[0], acceptsMissingChecksum: acceptsMissingChecksum
            ).run()
        }
        if logs.contains("-"), TerminalScreen.hasKeyboard {
            Terminal.say("waypost: reading NMEA from standard input; Control-D ends it")
        }
        return wantsSummary ? try await summarize() : try await writeFixes()
    }

    private var reader: LogReader {
        get throws(FixSourceError) {
            try LogReader(
                paths: logs,
                decoder: NMEADecoder(options: NMEADecoderOptions(acceptsMissingChecksum: acceptsMissingChecksum)),
                follows: follows
            ) { Terminal.say("waypost: \($0)") }
        }
    }

    private func writeFixes() async throws -> ExitStatus {
        let format = format
        let (decoding, count, ending) = try await reader.read { reader in
            var bytes: [UInt8] = []
            format.appendHeader(to: &bytes)
            var count = 0
            var track = TrackContinuity()
            var motion = DerivedMotion()
            let decoding = reader.decodeAll(progress: .ifResultsAreRedirected) { chunk throws(SystemError) in
                for fix in chunk.fixes {
                    var isBroken = false
                    if format.drawsTrack, case .broken = track.step(to: fix) { isBroken = true }
                    format.append(motion.complete(fix), isFirst: count == 0, isBroken: isBroken, to: &bytes)
                    count += 1
                }
                try StandardOutput.write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
            format.appendFooter(to: &bytes)
            return (decoding, count, bytes)
        }
        Terminal.draw("")
        if decoding.failure is SystemError { return try decoding.exitStatus() }
        let interruption = decoding.interruption(results: "\(count.counted("fix", plural: "fixes")) written")
        // An interrupted document must not look complete, so its footer isn't written. A followed log has no other end
        // than an interruption, so its document gets the footer.
        if decoding.isInterrupted, !follows { throw interruption }
        try StandardOutput.write(ending)
        if decoding.isInterrupted { throw interruption }
        if count > 0 { decoding.reportLosses() }
        let status = try decoding.exitStatus()
        guard count == 0 else { return status }
        throw decoding.noFixError
    }

    private func summarize() async throws -> ExitStatus {
        let (logs, total, decoding) = await LogSummary.summaries(of: try reader)
        Terminal.draw("")
        if decoding.isInterrupted { throw decoding.interruption(results: "a summary needs the complete logs") }
        // If the first log can't be read, there is nothing to summarise.
        if decoding.failure == nil || logs.contains(where: { $0.statistics.bytes > 0 }) {
            try StandardOutput.write(line: FixesSummary(logs: logs, total: total, now: .system).text)
        }
        let status = try decoding.exitStatus()
        guard logs.contains(where: { $0.statistics.epochs.fixes > 0 }) else { throw decoding.noFixError }
        return status
    }
}

/// The output formats of `waypost fixes`.
enum FixesFormat: String, CaseIterable, Sendable {
    case jsonl, csv, gpx, geojson

    func appendHeader(to bytes: inout [UInt8]) {
        switch self {
        case .jsonl: break
        case .csv: CSVFormat.appendHeader(to: &bytes)
        case .gpx: GPXFormat.appendHeader(to: &bytes)
        case .geojson: GeoJSONFormat.appendHeader(to: &bytes)
        }
    }

    /// Whether the format connects fixes into tracks.
    var drawsTrack: Bool { self == .gpx }

    /// Appends a fix. `isBroken` says whether the track is interrupted before the fix.
    func append(_ fix: Fix, isFirst: Bool, isBroken: Bool, to bytes: inout [UInt8]) {
        switch self {
        case .jsonl: JSONLinesFormat.append(fix, to: &bytes)
        case .csv: CSVFormat.append(fix, to: &bytes)
        case .gpx:
            if isBroken { GPXFormat.appendBreak(to: &bytes) }
            GPXFormat.append(fix, to: &bytes)
        case .geojson: GeoJSONFormat.append(fix, isFirst: isFirst, to: &bytes)
        }
    }

    func appendFooter(to bytes: inout [UInt8]) {
        switch self {
        case .jsonl, .csv: break
        case .gpx: GPXFormat.appendFooter(to: &bytes)
        case .geojson: GeoJSONFormat.appendFooter(to: &bytes)
        }
    }
}
