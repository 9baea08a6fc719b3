import GNSS

/// NMEA 0183 as live receivers send it.
struct SentenceDecoder: LineDecoder {
    private var decoder: NMEADecoder
    /// Sentences so far.
    private var sentences = 0

    init(_ decoder: NMEADecoder = NMEADecoder()) { self.decoder = decoder }

    mutating func take(_ bytes: Span<UInt8>, at now: Duration) -> LineContent {
        var newest: Fix?
        decoder.decode(bytes, receivedAt: now) { newest = $0 }
        let before = sentences
        sentences = decoder.statistics.sentences
        return LineContent(newestFix: newest, sentences: sentences - before)
    }

    mutating func lineIsIdle(at now: Duration) -> Fix? {
        var newest: Fix?
        decoder.lineIsIdle(at: now) { newest = $0 }
        return newest
    }

    mutating func finish() -> Fix? {
        var newest: Fix?
        decoder.finish { newest = $0 }
        return newest
    }

    mutating func takeWarning() -> ReceiverWarning? { decoder.takeWarning() }

    /// Sentences that lack nothing but their checksums.
    var causeOfNoise: String? {
        let statistics = decoder.statistics
        let refused = SentenceRefusal.allCases.reduce(0) { $0 + statistics.refusals($1).count }
        guard sentences == 0, statistics.refusals(.missingChecksum).count * 2 > refused else { return nil }
        return
            "sentences come, but without checksum; if the receiver has none, set receiver.acceptMissingChecksum to true"
    }

    var hasBinaryFrames: Bool { decoder.statistics.binaryBytes > 0 }

    var idleDeadline: Duration? { decoder.idleDeadline }
}
