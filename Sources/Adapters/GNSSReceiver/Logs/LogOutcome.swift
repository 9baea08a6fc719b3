package import GNSS
import ReportedText
package import Reporting
package import TimeAndRandomness

/// The outcome of one log that has been read to its end.
package struct LogOutcome: Sendable {
    /// The name to show operators.
    package let name: String
    package let statistics: DecoderStatistics
    /// The times of the first and the last fix; `nil` if there is no fix.
    private let fixTimes: (first: UTCTime, last: UTCTime)?
    /// The kind of a file that isn't a receiver's log, recognised by its first bytes; otherwise `nil`.
    private let foreignKind: ForeignLogKind?

    /// - Parameters:
    ///   - name: the log's name to show operators.
    ///   - statistics: the decoder's counts.
    ///   - beginning: the log's first bytes, decompressed.
    ///   - fixTimes: the times of the first and the last fix; `nil` if there is no fix.
    package init(
        name: String, statistics: DecoderStatistics, beginning: [UInt8] = [],
        fixTimes: (first: UTCTime, last: UTCTime)? = nil
    ) {
        self.name = name
        self.statistics = statistics
        self.fixTimes = fixTimes
        foreignKind = statistics.sentences == 0 ? ForeignLogKind(beginning: beginning, statistics: statistics) : nil
    }

    /// The error for a log that has no sentences, not even sentences without checksums; otherwise `nil`.
    package var noSentenceError: FixSourceError? {
        // A hexadecimal dump also shows sentences as text next to the digits, but cut into lines, so they don't count.
        guard statistics.sentences == 0, foreignKind == .hexadecimal || !statistics.isMainRejection(.missingChecksum)
        else {
            return nil
        }
        let mismatches = statistics.rejections(.checksumMismatch).count
        let fault: LogFault =
            if let foreignKind {
                .foreign(foreignKind)
            } else {
                mismatches > 0 ? .wrongChecksums(sentences: mismatches) : .noSentence
            }
        return FixSourceError(log: name, fault)
    }

    /// The number of sentences without a checksum, if no sentence of the log has one; otherwise 0.
    package var sentencesWithoutChecksum: Int {
        statistics.sentences == 0 && noSentenceError == nil ? statistics.rejections(.missingChecksum).count : 0
    }

    /// A remark about the sentences of a usable log that were left out because of their checksums; `nil` if all were
    /// used.
    package var checksumRemark: LogRemark? {
        let mismatches = statistics.rejections(.checksumMismatch)
        let stumps = statistics.rejections(.malformedChecksum)
        let count = mismatches.count + stumps.count
        guard statistics.sentences > 0, count > 0 else { return nil }
        let line = [mismatches, stumps].filter { $0.count > 0 }.map(\.firstLine).min() ?? 0
        let checksums: LogRemark.Checksums =
            if mismatches.count == 0 { .cutOff } else { stumps.count == 0 ? .wrong : .both }
        return .leftOut(
            log: name, FixAbsence.OmittedSentences(count, of: statistics.sentences + count), checksums, firstLine: line)
    }

    /// Returns a remark about the first log that begins before the previous log ends; `nil` if the logs are in order.
    package static func outOfOrderRemark(for outcomes: [LogOutcome]) -> LogRemark? {
        let parts = outcomes.compactMap { outcome in outcome.fixTimes.map { (outcome.name, $0) } }
        guard let (before, after) = zip(parts, parts.dropFirst()).first(where: { $1.1.first < $0.1.last }) else {
            return nil
        }
        return .outOfOrder(
            previous: before.0, end: before.1.last.shortestDescription, next: after.0,
            start: after.1.first.shortestDescription)
    }

    /// Returns the reason why input that has ended, recorded or live, produced no fix. Returns `nil` if it produced
    /// a fix, or if a warning has already reported the reason.
    static func failure(of outcomes: [LogOutcome], isRecorded: Bool) -> FixSourceError? {
        let isExplained = outcomes.contains { outcome in
            outcome.statistics.epochs.fixes > 0
                || ReceiverWarning.allCases.contains { $0.preventsFix && outcome.statistics.warnings($0).count > 0 }
        }
        return isExplained ? nil : noFixError(of: outcomes, isRecorded: isRecorded)
    }

    /// Returns the reason why the logs contain no usable fix.
    package static func noFixError(of outcomes: [LogOutcome], isRecorded: Bool = true) -> FixSourceError {
        let name = outcomes.map(\.name).joined(separator: ", ")
        let bare = outcomes.reduce(0) { $0 + $1.sentencesWithoutChecksum }
        guard bare == 0 else {
            return FixSourceError(log: name, .missingChecksums(sentences: bare, logs: outcomes.count))
        }
        let altered = outcomes.map(\.statistics).filter(\.hasManyWrongChecksums)
        let mismatches = altered.reduce(0) { $0 + $1.rejections(.checksumMismatch).count }
        let all = altered.reduce(mismatches) { $0 + $1.sentences }
        let absence = FixAbsence(
            cause(of: outcomes), isRecorded: isRecorded,
            leftOut: altered.isEmpty ? nil : FixAbsence.OmittedSentences(mismatches, of: all))
        return FixSourceError(log: name, .noFix(absence))
    }

    private static func cause(of outcomes: [LogOutcome]) -> FixAbsence.Cause {
        for outcome in outcomes {
            guard let rejection = outcome.statistics.rejection else { continue }
            return .rejectedPositions(
                rejected: rejection.rejected, stated: rejection.total, field: "\(rejection.mostFrequent)",
                count: rejection.mostFrequent.occurrences.count, log: outcome.name,
                firstLine: rejection.mostFrequent.occurrences.firstLine)
        }
        let undated = outcomes.reduce(0) { $0 + $1.statistics.epochs.undated }
        guard undated == 0 else { return .undated(undated) }
        guard !outcomes.allSatisfy(\.statistics.hasOnlyAIS) else { return .otherShips }
        let epochs = outcomes.reduce(0) { $0 + $1.statistics.epochs.all }
        return epochs == 0 ? .noPositionSentences : .invalidEpochs(epochs)
    }
}

extension ForeignLogKind {
    /// Recognises the kind of a file by its first bytes and by the decoder's counts. Returns `nil` if the kind is
    /// unknown.
    init?(beginning bytes: [UInt8], statistics: DecoderStatistics) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 == 0x20 || 9...13 ~= $0 }
        let plain = Array(content.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 })
        func has(_ word: String) -> Bool { Self.contains(word, in: plain[...]) }
        func begins(_ word: String) -> Bool { plain.starts(with: word.lowercased().utf8) }
        if statistics.binaryBytes > 0 {
            self = .binaryFrames
        } else if bytes.starts(with: [0xA0, 0xA2]) || Self.contains([0xB0, 0xB3, 0xA0, 0xA2], in: bytes[...]) {
            self = .sirf
        } else if !bytes.isEmpty, bytes.allSatisfy({ $0 == 0 }) {
            self = .zeros
        } else if begins("SQLite format 3") {
            self = .database
        } else if content.prefix(64).contains(where: { $0 < 0x20 && !(9...13 ~= $0) }) {
            return nil  // the other kinds are text
        } else if has("+cgpsinfo") || has("+cgnsinf") || has("+qgpsloc") {
            self = .modem
        } else if begins("<<<<<<<") {
            self = .conflict
        } else if begins("<") {
            self = has("<gpx") ? .gpx : has("<kml") ? .kml : has("<html") || has("<!DOCTYPE html") ? .page : .markup
        } else if begins("{") || begins("[") {
            self =
                has("{\"class\":\"")
                ? .gpsdReports
                : has("\"isSynchronized\":") && has("\"run\":")
                    ? .runRecording
                    : has("\"vehicle\"") && has("\"providerId\"") || has("\"authorization\"") ? .configuration : .json
        } else if has("RINEX VERSION / TYPE") {
            self = .rinex
        } else if begins("ey"), has(".") {
            self = .token
        } else if !has("$"), has("RMC,") || has("GGA,") || has("GLL,") {
            self = .withoutDollar
        } else if let line = plain.split(whereSeparator: { 10...13 ~= $0 }).first {
            if Self.contains("lat", in: line), line.contains(where: { ",;\t".utf8.contains($0) }) {
                self = .table
            } else if Self.isCANFrame(ReportedText(bytes: line.prefix(100)).description) {
                self = .canFrames
            } else if begins("0000000"), line.dropFirst(7).prefix(2).contains(where: { ": ".utf8.contains($0) }) {
                self = .hexadecimal
            } else {
                return nil
            }
        } else {
            return nil
        }
    }

    /// Whether a line, in lower case, looks like output of `candump`, `candump -L`, canboat's analyzer or a Yacht
    /// Devices gateway.
    private static func isCANFrame(_ line: String) -> Bool {
        func isIdentifier(_ text: Substring) -> Bool { text.count == 8 && text.allSatisfy(\.isHexDigit) }
        let words = line.split(separator: " ")
        let fields = line.split(separator: ",")
        if fields.count > 6, let group = Int(fields[2]), 59_392...131_071 ~= group { return true }
        if words.count > 2, words[0].contains(":"), ["r", "t"].contains(words[1]) { return isIdentifier(words[2]) }
        let rest = words.first?.hasPrefix("(") == true ? words.dropFirst(2) : words.dropFirst()
        guard let frame = rest.first else { return false }
        return isIdentifier(frame.prefix { $0 != "#" }) && (frame.contains("#") || rest.dropFirst().first?.first == "[")
    }

    /// Whether `bytes`, which are in lower case, contain `word`.
    private static func contains(_ word: String, in bytes: ArraySlice<UInt8>) -> Bool {
        contains(Array(word.lowercased().utf8), in: bytes)
    }

    private static func contains(_ word: [UInt8], in bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= word.count else { return false }
        return (bytes.startIndex...bytes.endIndex - word.count).contains { bytes[$0...].starts(with: word) }
    }
}
