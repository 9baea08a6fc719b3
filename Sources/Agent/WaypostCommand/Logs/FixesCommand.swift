import GNSS
import LinuxPlatform
import LocationReporting
import TrackDrawing
import Waypost

/// `waypost fixes`: NMEA in, fixes out.
struct FixesCommand {
    private let logs: [String]
    private let format: FixesFormat
    private let wantsSummary: Bool
    private let line: String?
    private let acceptsMissingChecksum: Bool
    private let follows: Bool

    init(_ arguments: Arguments) throws(UsageError) {
        logs = arguments.operands.isEmpty ? ["-"] : arguments.operands
        wantsSummary = arguments.has("--summary")
        line = arguments.value("--explain")
        acceptsMissingChecksum = arguments.has("--accept-missing-checksum")
        follows = arguments.has("--follow")
        let word = arguments.value("--format") ?? "jsonl"
        guard let format = FixesFormat(rawValue: word) else {
            let words = FixesFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("--format is \(word); use one of \(words)", command: "fixes")
        }
        self.format = format
        let ways = [wantsSummary, line != nil, arguments.value("--format") != nil]
        guard ways.count(where: { $0 }) <= 1 else {
            throw UsageError("--format, --summary and --explain exclude each other", command: "fixes")
        }
        if line.flatMap(Int.init) != nil, arguments.operands.count != 1 {
            throw UsageError("--explain with a line's number needs the one LOG that it is in", command: "fixes")
        }
        if follows, wantsSummary || line != nil {
            throw UsageError("--follow goes on for ever; --summary and --explain need an end", command: "fixes")
        }
        if follows, let log = logs.last { try GrowingLog.require(log, command: "fixes") }
    }

    func run() async throws -> ExitStatus {
        if let line {
            return try await LineExplanation(
                line: line, log: logs[0], acceptsMissingChecksum: acceptsMissingChecksum
            ).run()
        }
        return wantsSummary ? try await summarize() : try await write()
    }

    private var decoding: LogDecoding {
        LogDecoding(paths: logs, acceptsMissingChecksum: acceptsMissingChecksum, follows: follows)
    }

    private func write() async throws -> ExitStatus {
        let format = format
        let output = Locked((bytes: [UInt8](), hasFix: false, track: TrackContinuity()))
        output.withLock { format.appendHeader(to: &$0.bytes) }
        let result = await decoding.run(progress: LogProgress.line()) { fixes throws(SystemError) in
            let bytes = output.withLock { output in
                for fix in fixes {
                    var isBroken = false
                    if format.drawsTrack, case .broken = output.track.step(to: fix) { isBroken = true }
                    format.append(fix, isFirst: !output.hasFix, isBroken: isBroken, to: &output.bytes)
                    output.hasFix = true
                }
                defer { output.bytes.removeAll(keepingCapacity: true) }
                return output.bytes
            }
            try StandardOutput.write(bytes)
        }
        Terminal.draw("")
        if result.failure is SystemError { return try LogDecoding.conclude(result.failure) }
        let ending = output.withLock { output in
            format.appendFooter(to: &output.bytes)
            return output.bytes
        }
        try StandardOutput.write(ending)
        let status = try LogDecoding.conclude(result.failure)
        if result.failure == nil, !output.withLock({ $0.hasFix }) {
            // A receiver that never saw the sky gives a log without a fix; without a sentence it is not a log.
            if let other = result.outcomes.first(where: { $0.statistics.sentences == 0 }) {
                let unchecked = other.statistics.refusals(.missingChecksum).count
                if unchecked > 0 {
                    throw AgentError(
                        .inputData,
                        "\(other.name) holds \(FigureText.count(unchecked, "sentence")) without checksum and none with a right one; "
                            + "if its receiver has none, add --accept-missing-checksum")
                }
                throw AgentError(.inputData, "\(other.name) holds no NMEA 0183 sentence with a right checksum")
            }
            Terminal.say("waypost: \(LogDecoding.absence(of: result.outcomes))")
        }
        return status
    }

    private func summarize() async throws -> ExitStatus {
        let (logs, total, failure) = await LogSummary.survey(decoding)
        Terminal.draw("")
        try StandardOutput.write(line: FixesSummary(logs: logs, total: total).text)
        return try LogDecoding.conclude(failure)
    }
}

/// How `waypost fixes` writes fixes.
enum FixesFormat: String, CaseIterable, Sendable {
    case jsonl, csv, gpx, geojson

    /// What stands before the first fix.
    func appendHeader(to bytes: inout [UInt8]) {
        switch self {
        case .jsonl: break
        case .csv: CSVFormat.appendHeader(to: &bytes)
        case .gpx: GPXFormat.appendHeader(to: &bytes)
        case .geojson: GeoJSONFormat.appendHeader(to: &bytes)
        }
    }

    /// Whether the way from fix to fix matters to it.
    var drawsTrack: Bool { self == .gpx }

    /// Appends a fix; `isFirst` of all, `isBroken` when the track breaks before it.
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

    /// What stands after the last fix.
    func appendFooter(to bytes: inout [UInt8]) {
        switch self {
        case .jsonl, .csv: break
        case .gpx: GPXFormat.appendFooter(to: &bytes)
        case .geojson: GeoJSONFormat.appendFooter(to: &bytes)
        }
    }
}
