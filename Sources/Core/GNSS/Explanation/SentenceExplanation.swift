import ReportedText
import TimeAndRandomness

/// An explanation of one sentence and of its epoch's outcome.
struct SentenceExplanation {
    let sentence: TracedSentence
    /// The sentence's epoch; `nil` if the sentence belongs to none, or is explained without its log.
    let epoch: TracedEpoch?

    /// The lines of the explanation: one line about the sentence itself, followed by lines about its epoch.
    var lines: [String] {
        [openingLine] + prefixLines + omissionLines + (sentence.rejection == nil ? outcomeLines : [])
    }

    private var reading: SentenceReading { SentenceReading(of: sentence.bytes) }

    private var openingLine: String {
        let name = sentence.place.address.isEmpty ? "a sentence without an address" : sentence.place.address
        guard let rejection = sentence.rejection else { return "\(name): \(reading.meaning ?? "used")" }
        return "\(name): rejected: \(rejection): \(detail(of: rejection))"
    }

    private func detail(of rejection: SentenceRejection) -> String {
        let body = sentence.bytes.dropFirst().prefix { $0 != UInt8(ascii: "*") }
        let computed = "*" + Self.hexadecimal(body.reduce(0, ^))
        switch rejection {
        case .checksumMismatch:
            return
                "its checksum is *\(Self.reportedText(sentence.bytes.dropFirst(body.count + 2))), but its bytes require \(computed)"
        case .missingChecksum: return "its line ends without a checksum; its bytes require \(computed)"
        case .malformedChecksum:
            let stated = Self.reportedText(sentence.followingBytes.prefix(2))
            return "\"\(stated)\" follows *, but its bytes require \(computed)"
        case .interrupted:
            let byte = sentence.followingBytes.first ?? 0
            let what = byte == UInt8(ascii: "$") ? "another $" : "byte 0x\(Self.hexadecimal(byte)), which isn't text,"
            return "\(what) comes after \(sentence.bytes.count.counted("byte"))"
        case .tooLong:
            let run = sentence.followingBytes.prefix { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "$") }
            let isWhole = run.count < sentence.followingBytes.count
            return "\(isWhole ? "" : "more than ")\((sentence.bytes.count + run.count).counted("byte"))"
        case .malformedField, .outOfRange:
            return reading.faultyField ?? "a latitude without a longitude, or the reverse"
        }
    }

    /// A line about a faulty field that was ignored, although the rest of the sentence was used; empty if there is no
    /// such field.
    private var omissionLines: [String] {
        guard sentence.rejection == nil, let faultyField = reading.faultyField else { return [] }
        return ["\(faultyField), which can't be read: ignored"]
    }

    private var prefixLines: [String] {
        guard !sentence.prefix.isEmpty else { return [] }
        let outcome = unsafe sentence.prefix.withUnsafeBufferPointer { bytes in
            unsafe bytes.firstIndex(of: TagBlock.mark).map { unsafe TagBlock.outcome(in: bytes, startingAt: $0) }
        }
        if case .block(_, let transmittedAt)? = outcome {
            let time = transmittedAt.map { ", sent at \($0)" } ?? " without a time of transmission"
            return ["after a tag block\(time)"]
        }
        let text = Self.reportedText(sentence.prefix)
        return ["after \(sentence.prefix.count.counted("byte")) of other data: \"\(text)\""]
    }

    private var outcomeLines: [String] {
        if let time = sentence.firstDatedFixTime { return ["its date was used for the fix of \(time)"] }
        guard let epoch else { return [] }
        guard let time = epoch.timeOfDay else { return ["no fix: no sentence of its epoch contains a time"] }
        let name =
            "epoch \(UTCTime(millisecondsSince1970: time.posixMilliseconds).description.dropFirst(11).dropLast())"
        let explanation = EpochExplanation(epoch: epoch, place: sentence.place)
        return ["\(name): \(explanation.outcome)"]
            + explanation.lines(statedParts: reading.parts, isLate: sentence.isLate)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.utf8.count < 2 ? "0" + digits : digits
    }

    /// Returns the bytes as text, with a dot in place of each byte that isn't printable ASCII.
    private static func reportedText(_ bytes: some Sequence<UInt8>) -> ReportedText {
        ReportedText(bytes: bytes.map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: ".") }, limit: 60)
    }
}

/// The place of a sentence in its log.
struct SentencePlace: Hashable {
    /// The number of the line, counted from 1.
    let line: Int
    /// The number of earlier sentences on the same line.
    let ordinal: Int
    /// The talker and type, such as `GPRMC`.
    let address: String

    /// The address and line, such as `GPGGA on line 212`.
    var description: String { "\(address) on line \(line)" }
}
