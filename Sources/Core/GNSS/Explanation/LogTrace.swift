import TimeAndRandomness

/// A trace of a log as the decoder reads it. It records the outcome of each sentence on the requested lines, and the
/// reason for the outcome.
///
/// The trace runs `NMEADecoder` itself, one sentence at a time, and compares the decoder's state before and after each
/// sentence. So an explanation can't differ from the decoder's behaviour. Tracing is slow, but it doesn't slow down the
/// decoder elsewhere.
package struct LogTrace {
    /// The minimum number of bytes to read ahead. It exceeds the longest frame, so the decoder always gets complete
    /// frames.
    private static let lookahead = BinaryFrame.maximumLength + 1024
    /// The maximum number of bytes to keep of the requested lines. It is also the maximum for the data before a
    /// sentence.
    private static let maximumKeptBytes = 4096

    /// The numbers of the lines to explain, counted from 1.
    private let requestedLines: ClosedRange<Int>
    private var decoder: NMEADecoder
    private var record = TraceRecord()
    private var buffer: [UInt8] = []
    private var index = 0
    private var line = 1
    /// Whether a line feed has been found. Until then, carriage returns end lines.
    private var hasLineFeed = false
    private var isAfterCarriageReturn = false
    private var isAtLineStart = true
    private var ordinal = 0
    private var prefix: [UInt8] = []

    /// The requested lines without their line feeds, truncated to `maximumKeptBytes`.
    package private(set) var lineBytes: [UInt8] = []
    /// Whether one of the requested lines is a comment.
    private(set) var hasComment = false
    /// Whether the requested lines contain part of a binary frame.
    private(set) var hasBinaryFrame = false

    package init(lines requestedLines: ClosedRange<Int>, options: NMEADecoderOptions = NMEADecoderOptions()) {
        self.requestedLines = requestedLines
        decoder = NMEADecoder(options: options)
    }

    /// The number of lines read so far, including an incomplete last line.
    package var lineCount: Int { isAtLineStart ? line - 1 : line }
    /// Whether the rest of the log can't change the explanation.
    package var isSettled: Bool { line > requestedLines.upperBound && record.isSettled }
    /// The sentences on the requested lines, in order.
    var sentences: [TracedSentence] { record.sentences }
    /// The epochs of the sentences on the requested lines, by the serial number of the epoch.
    var epochs: [Int: TracedEpoch] { record.epochs }

    package mutating func read(_ bytes: Span<UInt8>) {
        for position in bytes.indices { buffer.append(bytes[position]) }
        while buffer.count - index > Self.lookahead, decodeNext(isFinal: false) {}
        buffer.removeFirst(index)
        index = 0
    }

    /// Handles the end of the log.
    package mutating func finish() {
        buffer.append(0)  // ends an incomplete sentence, as `NMEADecoder.finish` does
        while index < buffer.count - 1, decodeNext(isFinal: true) {}
        let before = decoder.assembler
        var emitted: [Fix] = []
        decoder.finish { emitted.append($0) }
        record.recordStep(at: nil, before: before, after: decoder.assembler, emitted: emitted)
        record.finish()
    }

    /// Passes the sentence, frame or byte at `index` to the decoder. Returns `false` if the decoder needs more bytes.
    private mutating func decodeNext(isFinal: Bool) -> Bool {
        let bytes = buffer
        let start = index
        let mark = decoder.isInComment ? 0 : bytes[start]
        let isSentence = mark == UInt8(ascii: "$") || mark == UInt8(ascii: "!")
        let before =
            isSentence
            ? (assembler: decoder.assembler, rejections: rejectionCounts, sentences: decoder.counts.sentences) : nil
        var emitted: [Fix] = []
        index = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe decoder.scan(bytes, from: start, until: start + 1, isFinal: isFinal) { emitted.append($0) }
        }
        let found = bytes[start..<index]
        guard !found.isEmpty else { return false }
        let rejection = before.flatMap { before in
            SentenceRejection.allCases.first { rejectionCounts[$0.rawValue] > before.rejections[$0.rawValue] }
        }
        if let before, rejection != nil || decoder.counts.sentences > before.sentences {
            recordSentence(found, of: bytes, rejection: rejection, before: before.assembler, emitted: emitted)
        } else {
            // A start byte that doesn't begin a sentence is kept with the other data before the next sentence.
            if mark == TagBlock.mark, found.count > 1 {
                record.recordTagBlock(at: SentencePlace(line: line, ordinal: ordinal, address: "the tag block"))
            }
            if prefix.count + found.count <= Self.maximumKeptBytes { prefix += found }
        }
        countLines(in: found, isBinary: !isSentence && mark != TagBlock.mark && found.count > 1)
        return true
    }

    private var rejectionCounts: [Int] { SentenceRejection.allCases.map { decoder.counts.rejections($0).count } }

    private mutating func recordSentence(
        _ found: ArraySlice<UInt8>, of bytes: [UInt8], rejection: SentenceRejection?, before: EpochAssembler,
        emitted: [Fix]
    ) {
        let after = decoder.assembler
        let (address, type) = SentenceType.addressAndType(in: found)
        let place = SentencePlace(line: line, ordinal: ordinal, address: address)
        record.recordStep(at: place, flags: type.flags(in: found), before: before, after: after, emitted: emitted)
        if requestedLines.contains(line) {
            let isCounted =
                rejection == nil && type.belongsToEpoch
                && (after.serial != before.serial || after.epoch.sentenceCounts != before.epoch.sentenceCounts)
            record.add(
                TracedSentence(
                    place: place, prefix: prefix, bytes: Array(found),
                    followingBytes: rejection == nil ? [] : Array(bytes[found.endIndex...].prefix(2048)),
                    rejection: rejection, epoch: isCounted ? after.serial : nil,
                    isLate: after.serial == before.serial && before.completion != nil))
        }
        ordinal += 1
        prefix = []
    }

    /// Counts the lines that end in `found`, and keeps the bytes that are on requested lines.
    private mutating func countLines(in found: ArraySlice<UInt8>, isBinary: Bool) {
        for byte in found {
            if requestedLines.contains(line) {
                if isBinary { hasBinaryFrame = true }
                if decoder.isInComment { hasComment = true }
                if byte != UInt8(ascii: "\n"), lineBytes.count < Self.maximumKeptBytes {
                    lineBytes.append(byte)
                }
            }
            let isLineFeed = byte == UInt8(ascii: "\n")
            let isReturn = byte == UInt8(ascii: "\r")
            // A line feed doesn't end another line if the carriage return before it has already ended the line.
            let hasEnded = isLineFeed && isAfterCarriageReturn && !hasLineFeed
            isAtLineStart = isLineFeed || isReturn && !hasLineFeed
            isAfterCarriageReturn = isReturn
            hasLineFeed = hasLineFeed || isLineFeed
            guard isAtLineStart else { continue }
            if !hasEnded { line += 1 }
            ordinal = 0
            prefix = []
        }
    }
}

extension LogTrace {
    /// The explanation of the requested lines. Each sentence has one line, followed by indented lines about the
    /// sentence's epoch.
    package var explanation: [String] {
        let lines = Self.lines(of: sentences) { $0.epoch.flatMap { epochs[$0] } }
        if !lines.isEmpty { return lines }
        if hasComment { return ["a comment: ignored"] }
        if hasBinaryFrame { return ["bytes of a UBX or RTCM frame, which is skipped by its length"] }
        return [
            "no line begins with $ or !, as a sentence does; a shell expands the $ unless the line is in single quotes"
        ]
    }

    /// Whether a sentence on the requested lines was rejected because it has no checksum.
    package var hasMissingChecksum: Bool { sentences.contains { $0.rejection == .missingChecksum } }

    /// Returns the explanation of `line` alone. The explanation says nothing about an epoch, because the epoch's other
    /// sentences are missing.
    package static func explanation(
        of line: [UInt8], options: NMEADecoderOptions = NMEADecoderOptions()
    ) -> (lines: [String], hasMissingChecksum: Bool) {
        var trace = LogTrace(lines: 1...1, options: options)
        trace.read((line + [UInt8(ascii: "\r")]).span)  // ends the line
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

/// An epoch of a log as the decoder assembled it.
struct TracedEpoch {
    /// The event that completed the epoch.
    enum CompletionEvent {
        /// The arrival of the sentence that is known to be the last of this receiver's epochs.
        case learnedLastSentence(SentencePlace)
        /// The arrival of the first sentence of another epoch.
        case nextEpoch(SentencePlace)
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
    /// The sentence from which each value of the fix was taken.
    var sources: [EpochPart: SentencePlace] = [:]
    var vetoes: [Veto] = []
    /// The epoch's outcome; `nil` until the epoch is complete, or if the epoch has no time of day.
    var completion: EpochCompletion?
    var completionEvent: CompletionEvent?
    /// The epoch's fix; `nil` if there is none, or while it waits for a date.
    var fix: Fix?
    /// The sentence whose date released the fix; `nil` if the fix didn't have to wait for a date.
    var releasedBy: SentencePlace?
    var basis: FixCalendar.Basis?
    var dateSource: SentencePlace?

    /// Whether the outcome of the epoch is final.
    var isSettled: Bool { completion != nil && (completion != .undated || fix != nil) }
}

/// A sentence of a log as the decoder read it.
struct TracedSentence {
    let place: SentencePlace
    /// The bytes between the previous sentence on the line and this sentence.
    let prefix: [UInt8]
    /// The bytes from the start byte to the second checksum digit. If the decoder gave up earlier, these are the bytes
    /// that it had read.
    let bytes: [UInt8]
    /// The first bytes after a rejected sentence; empty if the sentence was accepted.
    let followingBytes: [UInt8]
    /// The reason why the decoder rejected the sentence; `nil` if it was accepted.
    let rejection: SentenceRejection?
    /// The serial number of the sentence's epoch; `nil` if the sentence doesn't belong to an epoch.
    let epoch: Int?
    /// Whether the sentence arrived after its epoch was complete.
    let isLate: Bool
    /// The time of the first fix that was dated by this sentence; `nil` if there was none.
    var firstDatedFixTime: UTCTime?
}
