package import GNSS
import ReportedText
package import Reporting
package import TimeAndChance

/// The outcome of one log that has been read to its end.
package struct LogOutcome: Sendable {
    /// The name for operators.
    package let name: String
    package let statistics: DecoderStatistics
    /// The times of the first and the last fix.
    private let ends: (first: UTCTime, last: UTCTime)?
    /// The kind of file, by its first bytes, if it isn't a receiver's log.
    private let foreignKind: ForeignLogKind?

    /// - Parameters:
    ///   - name: the name for operators.
    ///   - statistics: the counts of its decoder.
    ///   - beginning: its first bytes, unpacked.
    ///   - ends: the times of the first and the last fix.
    package init(
        name: String, statistics: DecoderStatistics, beginning: [UInt8] = [],
        ends: (first: UTCTime, last: UTCTime)? = nil
    ) {
        self.name = name
        self.statistics = statistics
        self.ends = ends
        foreignKind = statistics.sentences == 0 ? ForeignLogKind(beginning, statistics) : nil
    }

    /// The error of a log without any sentence; `nil` if its sentences only lack their checksums.
    package var emptiness: FixSourceError? {
        // A hexadecimal dump also shows the sentences as text, divided into lines.
        guard statistics.sentences == 0, foreignKind == .hexadecimal || !statistics.isMostly(.missingChecksum) else {
            return nil
        }
        let mismatches = statistics.rejections(.checksumMismatch)
        let problem =
            if let foreignKind {
                "is \(foreignKind.rawValue)"
            } else if mismatches.count > 0 {
                "holds \(mismatches.count.counted("sentence")), and not one checksum agrees: \(Self.alteration)"
            } else {
                "holds no NMEA 0183 sentence with a right checksum; check that it is a receiver's log"
            }
        return FixSourceError(.notALog, "\(name) \(problem)")
    }

    /// The number of sentences that only lack a checksum, if no sentence has one; otherwise 0.
    package var sentencesWithoutChecksum: Int {
        statistics.sentences == 0 && emptiness == nil ? statistics.rejections(.missingChecksum).count : 0
    }

    /// A notice about sentences that were left out because of their checksums, if there are any.
    package var loss: String? {
        let mismatches = statistics.rejections(.checksumMismatch)
        let stumps = statistics.rejections(.malformedChecksum)
        let count = mismatches.count + stumps.count
        guard statistics.sentences > 0, count > 0 else { return nil }
        let all = statistics.sentences + count
        let line = [mismatches, stumps].filter { $0.count > 0 }.map(\.firstLine).min() ?? 0
        let cause =
            mismatches.count == 0
            ? "the checksum is cut off"
            : "the checksum does not agree\(stumps.count == 0 ? "" : ", or is cut off")"
        let front =
            "\(name): \(count.grouped) of \(all.counted("sentence")) left out, as \(cause) "
            + "(\(count == 1 ? "" : "the first ")in line \(line))"
        // A cable damages one in some hundreds; an editor or a conversion damages more.
        return count * 100 < all ? "\(front): damage on the line" : "\(front): \(Self.alteration)"
    }

    /// Returns a notice about the first log, if any, that begins before the previous one ends.
    package static func disorder(of outcomes: [LogOutcome]) -> String? {
        let parts = outcomes.compactMap { outcome in outcome.ends.map { (outcome.name, $0) } }
        guard let (before, after) = zip(parts, parts.dropFirst()).first(where: { $1.1.first < $0.1.last }) else {
            return nil
        }
        return
            "\(after.0) begins at \(after.1.first.shortestDescription), before the log in front of it ends, \(before.0) at "
            + before.1.last.shortestDescription
    }

    /// The remedy for `disorder(of:)`.
    package static let orderAdvice = "logs are given in the order of their times, each as it was recorded"

    private static let alteration =
        "the log was altered after it was recorded, or damaged on the line; use it as it was recorded"

    /// Returns the error of input that has ended without a fix, recorded or live; `nil` if there was a fix, or if a
    /// warning has stated the reason.
    static func failure(of outcomes: [LogOutcome], isRecorded: Bool) -> FixSourceError? {
        let isExplained = outcomes.contains { outcome in
            outcome.statistics.epochs.fixes > 0
                || ReceiverWarning.allCases.contains { $0.preventsFix && outcome.statistics.warnings($0).count > 0 }
        }
        return isExplained ? nil : FixSourceError(.notALog, absence(of: outcomes, isRecorded: isRecorded))
    }

    /// Returns the reason why logs have no usable fix, with the remedy.
    package static func absence(of outcomes: [LogOutcome], isRecorded: Bool = true) -> String {
        let names = outcomes.map(\.name).joined(separator: ", ")
        func sum(_ count: (DecoderStatistics) -> Int) -> Int { outcomes.reduce(0) { $0 + count($1.statistics) } }
        let bare = outcomes.reduce(0) { $0 + $1.sentencesWithoutChecksum }
        guard bare == 0 else {
            return
                "\(names) \(outcomes.count == 1 ? "holds" : "hold") no fix, but \(bare.counted("sentence")) without "
                + "checksum; if the receiver sends none, set receiver.acceptMissingChecksum to true, or give replay, fixes "
                + "and map --accept-missing-checksum"
        }
        let again = isRecorded ? ", and record again" : ""
        let epochs = sum(\.epochs.all)
        let undated = sum(\.epochs.undated)
        let rejected = outcomes.first { $0.statistics.rejection != nil }
        let (what, remedy) =
            if let rejected, let rejection = rejected.statistics.rejection {
                (
                    rejection.description,
                    isRecorded
                        ? "waypost fixes \(rejected.name) --explain \(rejection.firstLine) shows the first; set the receiver "
                            + "to NMEA 0183, and record again" : PositionRejection.liveAdvice
                )
            } else if undated > 0 {
                (
                    "\(undated.counted("fix", "fixes")), but no RMC or ZDA sentence that dates them",
                    "have the receiver send RMC or ZDA too\(again)"
                )
            } else if outcomes.allSatisfy(\.statistics.isAISAlone) {
                ("AIS messages, and no position of our own", "use the sentences of a GNSS receiver")
            } else if epochs == 0 {
                (
                    "no sentence states a position with its time",
                    "have the receiver send RMC and GGA\(again)"
                )
            } else {
                (
                    "\(epochs.counted("epoch")), none with a position that its receiver confirms (RMC with status V, "
                        + "GGA with quality 0, or simulated)",
                    isRecorded ? "record again where the antenna sees the sky" : "check the antenna's view of the sky"
                )
            }
        let front = "no fix \(undated > 0 && rejected == nil ? "with a date " : "")in \(names)"
        let altered = outcomes.map(\.statistics).filter(\.lostManyToChecksums)
        guard !altered.isEmpty else { return "\(front): \(what); \(remedy)" }
        let mismatches = altered.reduce(0) { $0 + $1.rejections(.checksumMismatch).count }
        let all = altered.reduce(mismatches) { $0 + $1.sentences }
        return
            "\(front): \(mismatches.grouped) of \(all.counted("sentence")) left out, as the checksum does not agree; in "
            + "the rest, \(what): \(isRecorded ? alteration : DecoderStatistics.lineAdvice)"
    }
}

/// A kind of file that users mistake for a receiver's log. The raw value ends a sentence and states the remedy.
enum ForeignLogKind: String, Sendable, Hashable, CaseIterable {
    case gpx = "a GPX track, which has no sentences; use the receiver's log that it was made of"
    case kml = "a KML track, which has no sentences; use the receiver's log that it was made of"
    case page = "a page (HTML); save the log itself in its place"
    case markup = "XML, not a receiver's log; use the log with the receiver's NMEA sentences"
    case conflict = "a text with conflict marks of git (<<<<<<<); use the log as it was recorded"
    case gpsdReports = "JSON reports of gpsd; record the receiver's sentences with gpspipe -r"
    case runRecording =
        "the record of a run, not a receiver's log; give its folder to waypost replay, or use receiver-*.nmea in the same folder"
    case configuration =
        "a configuration, not a log; name a receiver's log here, and give the configuration with --config if the command has it"
    case json = "JSON, not a receiver's log; use the log with the receiver's NMEA sentences"
    case table = "a table (CSV), which has no sentences; use the receiver's log that it was made of"
    case rinex = "RINEX, which has raw measurements and no positions; record the receiver's NMEA sentences"
    case binaryFrames =
        "binary output (UBX or RTCM) without an NMEA sentence; switch the receiver's output to NMEA, and record again"
    case sirf = "binary output of SiRF; switch the receiver's output to NMEA, and record again"
    case canFrames =
        "frames of a CAN bus (NMEA 2000), which has no sentences; set the gateway to NMEA 0183, and record that"
    case hexadecimal = "a dump in hexadecimal; use the log itself (xxd -r makes it of what xxd printed)"
    case database = "an SQLite database, perhaps an outbox; name a receiver's log"
    case modem =
        "a modem's answers to AT commands, not NMEA; record the modem's NMEA port, which may need a start command (AT+CGPS=1, AT+QGPS=1)"
    case token = "a token, not a log; name a receiver's log"
    case zeros = "nothing but zeros, as a file is after a power cut; record again"
    case withoutDollar = "sentences without the $ that begins each; use the log as it was recorded"

    /// Detects the kind by the first bytes of a log and the counts of its decoder; `nil` if it is unknown.
    init?(_ bytes: [UInt8], _ statistics: DecoderStatistics) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).drop { $0 == 0x20 || 9...13 ~= $0 }
        let plain = Array(content.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 })
        func has(_ word: String) -> Bool { Self.finds(word, in: plain[...]) }
        func begins(_ word: String) -> Bool { plain.starts(with: word.lowercased().utf8) }
        if statistics.binaryBytes > 0 {
            self = .binaryFrames
        } else if bytes.starts(with: [0xA0, 0xA2]) || Self.finds([0xB0, 0xB3, 0xA0, 0xA2], in: bytes[...]) {
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
            if Self.finds("lat", in: line), line.contains(where: { ",;\t".utf8.contains($0) }) {
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

    /// Whether a line in lower case is written by `candump`, `candump -L`, canboat's analyzer or a Yacht Devices
    /// gateway.
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
    private static func finds(_ word: String, in bytes: ArraySlice<UInt8>) -> Bool {
        finds(Array(word.lowercased().utf8), in: bytes)
    }

    private static func finds(_ word: [UInt8], in bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= word.count else { return false }
        return (bytes.startIndex...bytes.endIndex - word.count).contains { bytes[$0...].starts(with: word) }
    }
}
