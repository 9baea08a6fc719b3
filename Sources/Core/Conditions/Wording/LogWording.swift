import ReportedText
package import Reporting

/// Messages about recorded logs that can't be read or contain no fix.
extension FixSourceError: CustomStringConvertible {
    package var wording: Wording {
        switch reason {
        case .log(let name, let fault): fault.wording(for: name)
        case .line(let source, let fault?):
            Wording("\(source): \(fault.wording().cause)", fault.wording().remedy)
        case .line(let source, nil):
            Wording("\(source) ended without an NMEA sentence", "check the program that writes the input")
        }
    }

    package var description: String { wording.sentence.description }
}

extension LogFault {
    /// Returns the fault's cause and its remedy. The cause begins with the log's `name`.
    func wording(for name: String) -> Wording {
        let name = ReportedText(name, limit: ReportedText.maximumSentenceLength)
        func logWording(_ cause: ReportedText, _ remedy: ReportedText = "") -> Wording {
            Wording("\(name) \(cause)", remedy)
        }
        switch self {
        case .stopped: return Wording("\(name): stopped", "")
        case .notOpened(let obstacle): return obstacle.wording(for: name)
        case .directory: return logWording("is a directory", "specify the logs in it")
        case .empty: return logWording("is empty", "record the receiver's output into it first")
        case .zeroDevice: return logWording("is a device that yields only zeros", "use a log or a serial port")
        case .compressed(let packer, let command):
            return logWording("is compressed with \(text: packer)", "decompress it first (\(text: command))")
        case .compressedTwice: return logWording("is compressed twice", "decompress it once (gunzip)")
        case .followedArchive: return logWording("is a gzip archive, which can't be followed", "decompress it (gunzip)")
        case .utf16(let encoding):
            return logWording("is UTF-16 text", "convert it first: iconv -f \(text: encoding) -t UTF-8 LOG > NEW")
        case .archiveCutShort: return logWording("is a truncated archive", "copy it again")
        case .archiveWithoutContents:
            return logWording("is an archive without contents", "record the receiver's output into it first")
        case .archiveFollowedByOtherData(let byte):
            return logWording(
                "is an archive followed by other data, which begins at byte \(byte)", "truncate the file at that byte")
        case .archiveDamaged(let reason, let byte):
            return logWording("is an archive that is damaged near byte \(byte) (\(reason))", "copy it again")
        case .readFailed(let reason, let bytes):
            return Wording("\(name): \(reason) after \(text: bytes.counted("byte"))", "check its disk")
        case .readableOnce:
            return logWording(
                "can't be replayed, because it must be read twice and isn't a file", "record it to a file first")
        case .tooManyFixes(let maximum):
            return logWording("contains more than \(maximum) fixes, too many for several vehicles", "shorten the log")
        case .foreign(let kind): return logWording("is \(kind.wording.cause)", kind.wording.remedy)
        case .wrongChecksums(let sentences):
            return logWording(
                "contains \(text: sentences.counted("sentence")), none with a correct checksum",
                LogRemark.alteredLogRemedy)
        case .noSentence:
            return logWording(
                "contains no NMEA 0183 sentence with a correct checksum", "check that it is a receiver's log")
        case .missingChecksums(let sentences, let logs):
            return logWording(
                "\(logs == 1 ? "contains" : "contain") no fix, but \(text: sentences.counted("sentence")) without a checksum",
                """
                if the receiver sends none, set receiver.acceptMissingChecksum to true, or run replay, fixes or map \
                with --accept-missing-checksum
                """)
        case .noFix(let absence): return absence.wording(for: name)
        }
    }
}

extension LogFault.Obstacle {
    fileprivate func wording(for name: ReportedText) -> Wording {
        switch self {
        case .url: Wording("\(name) is not a file", "download it first, and specify the file")
        case .pattern:
            Wording(
                "\(name) does not exist",
                "no file matches the pattern, or it is in quotes, in which no shell expands it")
        case .missing: Wording("\(name) does not exist", "check the path")
        case .forbidden(let directory?):
            Wording(
                "\(name) can't be read by this user", "give every user access to the directory \(directory) (chmod a+x)"
            )
        case .forbidden(nil): Wording("\(name) can't be read by this user", "run chmod a+r \(name)")
        case .unreadableKind:
            Wording("\(name) is a socket, or a missing device", "use a file, a pipe or a serial port")
        case .other(let reason): Wording("\(name) can't be opened: \(reason)", "check its disk")
        }
    }
}

extension FixAbsence {
    fileprivate func wording(for names: ReportedText) -> Wording {
        let cause: ReportedText
        var remedy: ReportedText
        var subject: ReportedText = "no fix"
        switch self.cause {
        case .rejectedPositions(let rejected, let stated, let field, let count, let log, let line):
            cause = """
                \(text: rejected.grouped) of \(text: stated.counted("sentence")) with a position were rejected: \
                \(text: field) in \(text: count.grouped)
                """
            remedy =
                isRecorded
                ? """
                see the first with waypost fixes \(log) --explain \(line); set the receiver to NMEA 0183
                """ : "record a minute of the receiver's output and run waypost fixes --explain"
        case .undated(let count):
            subject = "no fix with a date"
            cause = "\(text: count.counted("fix", plural: "fixes")), but no RMC or ZDA sentence that dates them"
            remedy = "have the receiver also send RMC or ZDA"
        case .otherShips:
            cause = "AIS messages of other ships, but no position of this vehicle"
            remedy = isRecorded ? "use a log from a GNSS receiver" : "use the output of a GNSS receiver"
        case .noPositionSentences:
            cause = "no sentence contains a position with its time"
            remedy = "have the receiver send RMC and GGA"
        case .invalidEpochs(let count):
            cause = """
                \(text: count.counted("epoch")), none with a valid position (RMC with status V, GGA with quality 0, or \
                simulated)
                """
            remedy = "check the antenna's view of the sky"
        }
        guard let leftOut else {
            if isRecorded, self.cause != .otherShips { remedy = "\(remedy), and record the log again" }
            return Wording("\(subject) in \(names): \(cause)", remedy)
        }
        return Wording(
            "\(subject) in \(names): \(leftOut.words) because of wrong checksums; in the rest, \(cause)",
            isRecorded ? LogRemark.alteredLogRemedy : ReceiverFault.checkLine)
    }
}

extension FixAbsence.OmittedSentences {
    fileprivate var words: ReportedText {
        "\(text: count.grouped) of \(text: total.counted("sentence")) left out"
    }
}

extension ForeignLogKind {
    fileprivate var wording: Wording {
        let original: ReportedText = "use the receiver's log from which it was made"
        let nmea: ReportedText = "switch the receiver's output to NMEA, and record the log again"
        return switch self {
        case .gpx: Wording("a GPX track without sentences", original)
        case .kml: Wording("a KML track without sentences", original)
        case .table: Wording("a table (CSV) without sentences", original)
        case .markup: Wording("XML without sentences", original)
        case .json: Wording("JSON without sentences", original)
        case .page: Wording("a web page (HTML)", "save the log itself")
        case .conflict: Wording("text with git conflict markers (<<<<<<<)", "use the log as it was recorded")
        case .withoutDollar: Wording("a log of sentences without the leading $", "use the log as it was recorded")
        case .gpsdReports: Wording("a log of gpsd's JSON reports", "record the receiver's sentences with gpspipe -r")
        case .runRecording:
            Wording(
                "the recording of a run", "pass its directory to waypost replay, or use its receiver-*.nmea")
        case .configuration:
            Wording("a configuration", "specify a receiver's log here, and the configuration with --config")
        case .rinex: Wording("RINEX: raw measurements without positions", "record the receiver's NMEA sentences")
        case .binaryFrames: Wording("binary output (UBX or RTCM) without an NMEA sentence", nmea)
        case .sirf: Wording("binary output of SiRF", nmea)
        case .canFrames:
            Wording(
                "a log of CAN frames (NMEA 2000)", "change the gateway's output to NMEA 0183, and record the log again")
        case .hexadecimal:
            Wording("a hexadecimal dump", "use the log itself (xxd -r restores it from xxd's output)")
        case .database: Wording("an SQLite database, perhaps an outbox", "use a receiver's log")
        case .token: Wording("a token", "use a receiver's log")
        case .modem:
            Wording(
                "a modem's answers to AT commands",
                "record the modem's NMEA port, which may need a start command (AT+CGPS=1, AT+QGPS=1)")
        case .zeros:
            Wording("a file that contains only zero bytes, possibly because of a power cut", "record the log again")
        }
    }
}

/// Messages about logs that are used despite a flaw.
extension LogRemark: CustomStringConvertible {
    fileprivate static let alteredLogRemedy: ReportedText =
        "use the original log, because this one was altered afterwards, or damaged on the line"
    private static let orderRemedy: ReportedText =
        "list logs in chronological order, each as it was recorded"

    package var description: String { wording.sentence.description }

    private var wording: Wording {
        switch self {
        case .leftOut(let log, let leftOut, let checksums, let line):
            let checksum: ReportedText =
                switch checksums {
                case .wrong: "the checksum is wrong"
                case .cutOff: "the checksum is cut off"
                case .both: "the checksum is wrong, or cut off"
                }
            let place: ReportedText = "\(leftOut.count == 1 ? "" : "the first ")on line \(line)"
            let cause: ReportedText = "\(log): \(leftOut.words) because \(checksum) (\(place))"
            // A bad cable damages about one sentence in a few hundred. More damage points to an editor or a conversion.
            return leftOut.count * 100 < leftOut.total
                ? Wording("\(cause), damaged on the line", "") : Wording(cause, Self.alteredLogRemedy)
        case .outOfOrder(let previous, let end, let next, let start):
            return Wording(
                """
                \(next) begins at \(text: start), before the previous log, \(previous), ends at \(text: end)
                """, Self.orderRemedy)
        case .timeGoesBack(let log, let times):
            return Wording(
                """
                \(log): timestamps jump backwards \(text: times.counted("time")); a fix after such a jump is replayed a \
                millisecond after the previous fix
                """, Self.orderRemedy)
        }
    }
}
