/// A trace in words.
extension LogTrace {
    /// What became of everything on the wanted lines, a group of lines for each sentence, the first at the margin.
    package var explanation: [String] {
        let lines = Self.lines(of: sentences) { $0.epoch.flatMap { epochs[$0] } }
        if !lines.isEmpty { return lines }
        if hasComment { return ["a comment: not looked at"] }
        if hasBinary { return ["bytes of a UBX or RTCM frame, which is skipped by its length"] }
        return ["nothing here begins like a sentence"]
    }

    /// Whether a sentence on the wanted lines was refused for want of a checksum.
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
