import Conditions
package import GNSS
import ReportedText
import TrackDrawing

/// The decoder's statistics for one log, as text.
package struct LogDescription {
    /// The receiver's make, and the banners with which the receiver identifies itself; empty if the log contains
    /// neither.
    package let receiver: [String]
    /// The talkers, each with its meaning, such as `GP GPS`.
    package let talkers: [String]
    /// The size of the log, such as `1,680 in 1,680 lines, 91.9 kB`. The first number counts sentences.
    package let size: String
    /// The number of sentences of each address, such as `GNGGA 300`.
    package let sentences: [String]
    /// The reasons why sentences were rejected, each with its number of occurrences, most frequent first.
    package let rejections: [(count: Int, text: String)]
    /// The unreadable fields of accepted sentences, each with its number of occurrences, most frequent first.
    package let omissions: [(count: Int, text: String)]
    /// The number of fixes, and of epochs without one, such as `208 of 300 epochs; 92 without a position`.
    package let fixes: String
    /// The receiver's warnings, each with the line on which it first occurs.
    package let warnings: [String]

    package init(_ statistics: DecoderStatistics) {
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
