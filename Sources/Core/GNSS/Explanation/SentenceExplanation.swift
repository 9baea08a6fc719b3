import ReportedText
import TimeAndChance

/// What became of one sentence, and why, in words: what it says, and what its epoch came to.
struct SentenceExplanation {
    let sentence: TracedSentence
    /// The epoch that it counts to, where there is one and its log is known.
    let epoch: TracedEpoch?

    /// A line that judges the sentence by itself, then one for each thing that is known of its epoch.
    var lines: [String] {
        [opening] + prefixLines + omissionLines + (sentence.refusal == nil ? fateLines : [])
    }

    private var reading: SentenceReading { SentenceReading(of: sentence.bytes) }

    private var opening: String {
        let name = sentence.place.address.isEmpty ? "a sentence without an address" : sentence.place.address
        guard let refusal = sentence.refusal else { return "\(name): \(reading.words ?? "taken")" }
        return "\(name): rejected: \(reason(refusal))"
    }

    private func reason(_ refusal: SentenceRefusal) -> String {
        let body = sentence.bytes.dropFirst().prefix { $0 != UInt8(ascii: "*") }
        let computed = "*" + Self.hexadecimal(body.reduce(0, ^))
        let stated = sentence.bytes.dropFirst(body.count + 2)
        switch refusal {
        case .checksumMismatch:
            return "\(refusal): it states *\(Self.shown(stated)), its bytes make \(computed)"
        case .missingChecksum: return "\(refusal): its line ends without one; its bytes make \(computed)"
        case .malformedChecksum:
            let stated = Self.shown(sentence.following.prefix(2))
            return "\(refusal): behind * stands \"\(stated)\", its bytes make \(computed)"
        case .interrupted:
            let byte = sentence.following.first ?? 0
            let what = byte == UInt8(ascii: "$") ? "another $" : "byte 0x\(Self.hexadecimal(byte)), which is no text,"
            return "\(refusal): \(what) comes after \(sentence.bytes.count.counted("byte"))"
        case .tooLong:
            let run = sentence.following.prefix { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "$") }
            let isWhole = run.count < sentence.following.count
            return "\(refusal): \(isWhole ? "" : "more than ")\((sentence.bytes.count + run.count).counted("byte"))"
        case .malformedField, .outOfRange:
            guard let (number, text) = reading.faultyField else {
                return "\(refusal): a latitude without a longitude, or the reverse"
            }
            let name = SentenceType.named(in: sentence.bytes).type.fieldName(number).map { " (\($0))" } ?? ""
            return "\(refusal): field \(number)\(name) is \"\(text)\""
        }
    }

    /// The field that a sentence in use was read without.
    private var omissionLines: [String] {
        guard sentence.refusal == nil, let (number, text) = reading.faultyField else { return [] }
        let name = SentenceType.named(in: sentence.bytes).type.fieldName(number).map { " (\($0))" } ?? ""
        return ["field \(number)\(name) is \"\(text)\", which can't be read: left out"]
    }

    private var prefixLines: [String] {
        guard !sentence.prefix.isEmpty else { return [] }
        let outcome = unsafe sentence.prefix.withUnsafeBufferPointer { bytes in
            unsafe bytes.firstIndex(of: TagBlock.mark).map { unsafe TagBlock.outcome(in: bytes, startingAt: $0) }
        }
        if case .block(_, let transmittedAt)? = outcome {
            let time = transmittedAt.map { ", sent at \($0)" } ?? " without a time of transmission"
            return ["behind a tag block\(time)"]
        }
        let text = Self.shown(sentence.prefix)
        return ["behind \(sentence.prefix.count.counted("byte")) of something else: \"\(text)\""]
    }

    private var fateLines: [String] {
        if let dated = sentence.dated { return ["its date is that of the fix of \(dated)"] }
        guard let epoch else { return [] }
        guard let time = epoch.timeOfDay else { return ["no sentence of its epoch states a time: no fix"] }
        let name =
            "epoch \(UTCTime(millisecondsSince1970: time.posixMilliseconds).description.dropFirst(11).dropLast())"
        let explanation = EpochExplanation(epoch: epoch, place: sentence.place)
        return ["\(name): \(explanation.outcome)"]
            + explanation.lines(stated: reading.parts, isLate: sentence.isLate)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.utf8.count < 2 ? "0" + digits : digits
    }

    /// Text as it stands, other bytes as dots.
    private static func shown(_ bytes: some Sequence<UInt8>) -> ReportedText {
        ReportedText(bytes: bytes.map { 0x20...0x7E ~= $0 ? $0 : UInt8(ascii: ".") }, limit: 60)
    }
}

/// Where a sentence stands in its log.
struct SentencePlace: Hashable {
    /// Counted by line feeds, from 1.
    let line: Int
    /// Which of the line's sentences, from 0.
    let ordinal: Int
    /// Talker and type, as `GPRMC`.
    let address: String

    /// As `GPGGA in line 212`.
    var description: String { "\(address) in line \(line)" }
}
