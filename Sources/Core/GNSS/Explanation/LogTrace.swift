import TimeAndChance

/// Follows lines of a log through a decoder: what became of each of their sentences, and why.
///
/// It is the decoder itself that runs, one sentence at a time; the trace only compares its state before and after, so
/// that it cannot say anything else than what the decoder did. That is slow, and nothing of it is in the decoder's way.
package struct LogTrace {
    /// Bytes that stay ahead of what is looked at: more than any frame is long.
    private static let lookahead = BinaryFrame.maximumLength + 1024
    /// A line, and what stands before a sentence, is kept so far.
    private static let keptBytes = 4096

    /// The lines to be explained.
    private let wanted: ClosedRange<Int>
    private var decoder: NMEADecoder
    private var record = TraceRecord()
    private var buffer: [UInt8] = []
    private var index = 0
    private var line = 1
    /// Whether a line feed has come: only in a log without any do lines end with carriage returns.
    private var hasLineFeed = false
    private var isAfterReturn = false
    private var isAtLineStart = true
    private var ordinal = 0
    private var prefix: [UInt8] = []

    /// The bytes of the wanted lines, without their line feeds, as far as they are kept.
    package private(set) var text: [UInt8] = []
    /// Whether one of the wanted lines is a comment.
    private(set) var hasComment = false
    /// Whether a binary frame reaches into the wanted lines.
    private(set) var hasBinary = false

    package init(lines wanted: ClosedRange<Int>, options: NMEADecoderOptions = NMEADecoderOptions()) {
        self.wanted = wanted
        decoder = NMEADecoder(options: options)
    }

    /// How many lines there are so far; a last one without line feed counts.
    package var lines: Int { isAtLineStart ? line - 1 : line }
    /// Whether nothing that follows in the log matters to the wanted lines.
    package var isSettled: Bool { line > wanted.upperBound && record.isSettled }
    /// The sentences on the wanted lines, in order.
    var sentences: [TracedSentence] { record.sentences }
    /// The epochs that they count to, by serial number.
    var epochs: [Int: TracedEpoch] { record.epochs }

    package mutating func take(_ bytes: Span<UInt8>) {
        for position in bytes.indices { buffer.append(bytes[position]) }
        while buffer.count - index > Self.lookahead, step(isFinal: false) {}
        buffer.removeFirst(index)
        index = 0
    }

    /// Tells that the log has ended.
    package mutating func finish() {
        // This byte ends what the last ones began, as in the decoder.
        buffer.append(0)
        while index < buffer.count - 1, step(isFinal: true) {}
        let before = decoder.assembler
        var emitted: [Fix] = []
        decoder.finish { emitted.append($0) }
        record.note(nil, before: before, after: decoder.assembler, emitted)
        record.finish()
    }

    /// Lets the decoder handle the one thing that begins at `index`; `false` when more bytes are needed for that.
    private mutating func step(isFinal: Bool) -> Bool {
        let bytes = buffer
        let start = index
        let mark = decoder.isInComment ? 0 : bytes[start]
        let isSentence = mark == UInt8(ascii: "$") || mark == UInt8(ascii: "!")
        let before =
            isSentence
            ? (assembler: decoder.assembler, refusals: refusalCounts, sentences: decoder.account.sentences) : nil
        var emitted: [Fix] = []
        index = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe decoder.scan(bytes, from: start, until: start + 1, isFinal: isFinal) { emitted.append($0) }
        }
        let found = bytes[start..<index]
        guard !found.isEmpty else { return false }
        let refusal = before.flatMap { before in
            SentenceRefusal.allCases.first { refusalCounts[$0.rawValue] > before.refusals[$0.rawValue] }
        }
        // A start byte in text belongs to the text in front of the sentence.
        if let before, refusal != nil || decoder.account.sentences > before.sentences {
            note(found, of: bytes, refusal: refusal, before: before.assembler, emitted)
        } else {
            if mark == TagBlock.mark, found.count > 1 {
                record.noteTagBlock(at: SentencePlace(line: line, ordinal: ordinal, address: "the tag block"))
            }
            if prefix.count + found.count <= Self.keptBytes { prefix += found }
        }
        pass(found, isBinary: !isSentence && mark != TagBlock.mark && found.count > 1)
        return true
    }

    private var refusalCounts: [Int] { SentenceRefusal.allCases.map { decoder.account.refusals($0).count } }

    private mutating func note(
        _ found: ArraySlice<UInt8>, of bytes: [UInt8], refusal: SentenceRefusal?, before: EpochAssembler,
        _ emitted: [Fix]
    ) {
        let after = decoder.assembler
        let (address, type) = SentenceType.named(in: found)
        let place = SentencePlace(line: line, ordinal: ordinal, address: address)
        record.note(
            place, flags: type.flags(in: found), before: before, after: after, emitted)
        if wanted.contains(line) {
            let isCounted =
                refusal == nil && type.belongsToEpoch
                && (after.serial != before.serial || after.epoch.counts != before.epoch.counts)
            record.keep(
                TracedSentence(
                    place: place, prefix: prefix, bytes: Array(found),
                    following: refusal == nil ? [] : Array(bytes[found.endIndex...].prefix(2048)),
                    refusal: refusal, epoch: isCounted ? after.serial : nil,
                    isLate: after.serial == before.serial && before.completion != nil))
        }
        ordinal += 1
        prefix = []
    }

    /// Counts lines, and keeps the wanted ones.
    private mutating func pass(_ found: ArraySlice<UInt8>, isBinary: Bool) {
        for byte in found {
            if wanted.contains(line) {
                if isBinary { hasBinary = true }
                if decoder.isInComment { hasComment = true }
                if byte != UInt8(ascii: "\n"), text.count < Self.keptBytes { text.append(byte) }
            }
            let isLineFeed = byte == UInt8(ascii: "\n")
            let isReturn = byte == UInt8(ascii: "\r")
            let hasEnded = isLineFeed && isAfterReturn && !hasLineFeed  // by the carriage return in front of it
            isAtLineStart = isLineFeed || isReturn && !hasLineFeed
            isAfterReturn = isReturn
            hasLineFeed = hasLineFeed || isLineFeed
            guard isAtLineStart else { continue }
            if !hasEnded { line += 1 }
            ordinal = 0
            prefix = []
        }
    }
}

extension LogTrace {
    /// What became of everything on the wanted lines, a group of lines for each sentence, the first at the margin.
    package var explanation: [String] {
        let lines = Self.lines(of: sentences) { $0.epoch.flatMap { epochs[$0] } }
        if !lines.isEmpty { return lines }
        if hasComment { return ["a comment: not looked at"] }
        if hasBinary { return ["bytes of a UBX or RTCM frame, which is skipped by its length"] }
        return [
            "nothing here begins like a sentence, with $ or !; a shell takes the $ unless the line stands in single quotes"
        ]
    }

    /// Whether a sentence on the wanted lines was rejected for want of a checksum.
    package var hasMissingChecksum: Bool { sentences.contains { $0.refusal == .missingChecksum } }

    /// What `line` says for itself, as if it were the whole log.
    package static func explanation(
        of line: [UInt8], options: NMEADecoderOptions = NMEADecoderOptions()
    ) -> (lines: [String], hasMissingChecksum: Bool) {
        var trace = LogTrace(lines: 1...1, options: options)
        trace.take((line + [UInt8(ascii: "\r")]).span)  // a text that is given is whole
        trace.finish()
        let lines = Self.lines(of: trace.sentences) { _ in nil }
        return (lines.isEmpty ? trace.explanation : lines, trace.hasMissingChecksum)
    }

    private static func lines(
        of sentences: [TracedSentence], epoch: (TracedSentence) -> TracedEpoch?
    ) -> [String] {
        sentences.flatMap { sentence in
            let lines = SentenceExplanation(sentence: sentence, epoch: epoch(sentence)).lines
            return lines.prefix(1) + lines.dropFirst().map { "  " + $0 }
        }
    }
}

/// One epoch of a log as the decoder put it together.
struct TracedEpoch {
    /// What made it complete.
    enum Ending {
        /// The sentence that the receiver's epochs end with, as has been learned.
        case learned(SentencePlace)
        /// The first sentence of another epoch.
        case next(SentencePlace)
        case endOfLog
    }

    /// A sentence whose flags say that there is no position.
    struct Veto {
        let source: PositionSource
        let place: SentencePlace
        let flags: String
    }

    let serial: Int
    var timeOfDay: TimeOfDay?
    /// Which sentence each part stands by.
    var sources: [EpochPart: SentencePlace] = [:]
    var vetoes: [Veto] = []
    /// `nil` while it is not complete, and for ever when it has no time of day.
    var completion: EpochCompletion?
    var ending: Ending?
    /// The fix that came out; that of an undated epoch comes later.
    var fix: Fix?
    /// What the fix came out with, when it had waited for a date.
    var releasedBy: SentencePlace?
    var basis: FixCalendar.Basis?
    /// What stated the date.
    var dateSource: SentencePlace?

    /// Whether nothing that follows can change it.
    var isSettled: Bool { completion != nil && (completion != .undated || fix != nil) }
}

/// One sentence of a log as the decoder met it.
struct TracedSentence {
    let place: SentencePlace
    /// What stands before it on its line, behind the sentence before.
    let prefix: [UInt8]
    /// From the start byte to the second checksum digit, or as far as it was a sentence.
    let bytes: [UInt8]
    /// What follows one that was rejected, as far as it was looked at.
    let following: [UInt8]
    /// Why the decoder rejected it; `nil` when it did not.
    let refusal: SentenceRefusal?
    /// Which epoch it counts to; `nil` for what belongs to none.
    let epoch: Int?
    /// Whether that epoch was complete before it came.
    let isLate: Bool
    /// Of a date sentence: the first fix that took its date.
    var dated: UTCTime?
}
