import Conditions
import GNSS
import GNSSReceiver
import LinuxPlatform
import ReportedText
import TrackDrawing

/// The summary of one log: its decoder's statistics and its track.
struct LogSummary: Sendable {
    let name: String
    let statistics: DecoderStatistics
    let track: TrackSummary

    /// Decodes the logs of `reader` one after another. Returns the summary of each log, the total of their tracks, and
    /// the outcome of the decoding. If a log is damaged, decodes its readable part and then stops. The total is empty
    /// if there is only one log, because it would repeat that log's summary.
    static func summaries(of reader: LogReader) async -> (
        logs: [LogSummary], total: TrackSummary, decoding: LogDecoding
    ) {
        let isOfSeveral = reader.paths.count > 1
        return await reader.read { reader in
            var logs: [LogSummary] = []
            var track = TrackSummary()
            var total = TrackSummary()
            let decoding = reader.decodeAll(progress: .always) { chunk throws(SystemError) in
                for fix in chunk.fixes {
                    track.add(fix)
                    if isOfSeveral { total.add(fix) }
                }
                guard let outcome = chunk.outcome else { return }
                logs.append(LogSummary(name: outcome.name, statistics: outcome.statistics, track: track))
                track = TrackSummary()
            }
            return (logs, total, decoding)
        }
    }
}

/// The decoder's statistics for one log, as text.
struct LogDescription {
    /// The receiver's make, and the banners with which the receiver identifies itself; empty if the log contains
    /// neither.
    let receiver: [String]
    /// The talkers, each with its meaning, such as `GP GPS`.
    let talkers: [String]
    /// The size of the log, such as `1,680 in 1,680 lines, 91.9 kB`. The first number counts sentences.
    let size: String
    /// The number of sentences of each address, such as `GNGGA 300`.
    let sentences: [String]
    /// The reasons why sentences were rejected, each with its number of occurrences, most frequent first.
    let rejections: [(count: Int, text: String)]
    /// The unreadable fields of accepted sentences, each with its number of occurrences, most frequent first.
    let omissions: [(count: Int, text: String)]
    /// The number of fixes, and of epochs without one, such as `208 of 300 epochs; 92 without a position`.
    let fixes: String
    /// The receiver's warnings, each with the line on which it first occurs.
    let warnings: [String]

    init(_ statistics: DecoderStatistics) {
        let addresses = statistics.sentencesByAddress
        receiver = Self.receiverNames(in: statistics)
        let known = Set(addresses.compactMap { Talker.code(ofAddress: $0.address) })
        talkers = known.sorted().map { talker in Talker.meaning(of: talker).map { "\(talker) \($0)" } ?? talker }
        var size = "\(statistics.sentences.grouped) in \(statistics.lines.counted("line")), "
        size += FigureText.bytes(statistics.bytes)
        if statistics.binaryBytes > 0 {
            size += ", including \(FigureText.bytes(statistics.binaryBytes)) of UBX and RTCM frames"
        }
        self.size = size
        sentences = addresses.map { "\($0.address) \($0.count.grouped)" }
        rejections = Self.rejectionRows(in: statistics).sorted { $0.count > $1.count }
        omissions = statistics.omittedFields.sorted { $0.occurrences.count > $1.occurrences.count }.map(Self.row)
        fixes = Self.fixesText(of: statistics)
        warnings = ReceiverWarning.allCases.map { ($0, statistics.warnings($0)) }.filter { $0.1.count > 0 }
            .sorted { $0.1.firstLine < $1.1.firstLine }
            .map { warning, found in
                "\(Condition(warning).line) (\(found.count > 1 ? "\(found.count.grouped) times, " : "")\(Self.lineReference(found)))"
            }
    }

    private static func rejectionRows(in statistics: DecoderStatistics) -> [(count: Int, text: String)] {
        // Malformed and out-of-range fields are left out here, because `rejectedFields` counts them by field.
        let byFrame = SentenceRejection.allCases.filter { $0 != .malformedField && $0 != .outOfRange }
            .map { ($0, statistics.rejections($0)) }.filter { $0.1.count > 0 }
        return byFrame.map { reason, found in
            let remedy =
                reason == .missingChecksum && statistics.positionSentences == 0
                ? " (--accept-missing-checksum accepts them)" : ""
            return (found.count, "\(reason), \(lineReference(found))\(remedy)")
        } + statistics.rejectedFields.map(row)
    }

    private static func row(_ fault: FieldFaultCount) -> (count: Int, text: String) {
        (fault.occurrences.count, "\(fault), \(lineReference(fault.occurrences))")
    }

    private static func lineReference(_ found: DecoderStatistics.Occurrences) -> String {
        "\(found.count > 1 ? "first " : "")on line \(found.firstLine)"
    }

    private static func receiverNames(in statistics: DecoderStatistics) -> [String] {
        var makers: [String] = []
        for (address, _) in statistics.sentencesByAddress {
            guard let maker = ReceiverMaker.name(ofAddress: address), !makers.contains(maker) else { continue }
            makers.append(maker)
        }
        let banners = statistics.banners.map(\.description)
        return makers.filter { maker in !banners.contains { $0.hasPrefix(maker) } } + banners
    }

    private static func fixesText(of statistics: DecoderStatistics) -> String {
        let others = [
            (statistics.epochs.void, "without a position"), (statistics.epochs.repeated, "repeated"),
            (statistics.epochs.undated, "without a date"),
        ]
        let rest = others.filter { $0.0 > 0 }.map { "\($0.0.grouped) \($0.1)" }
        let epochs = statistics.epochs.all.counted("epoch")
        guard statistics.epochs.fixes > 0 else {
            return "none in \(epochs)" + (rest.isEmpty ? "" : ": ") + rest.joined(separator: ", ")
        }
        let front =
            rest.isEmpty
            ? statistics.epochs.fixes.grouped : "\(statistics.epochs.fixes.grouped) of \(epochs); "
        return front + rest.joined(separator: ", ")
    }
}
