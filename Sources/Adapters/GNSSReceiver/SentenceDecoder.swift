import GNSS

/// NMEA 0183 as live receivers send it.
struct SentenceDecoder: LineDecoder {
    private var decoder: NMEADecoder
    private var counter = SentenceCounter()

    init(_ decoder: NMEADecoder = NMEADecoder()) { self.decoder = decoder }

    mutating func take(_ bytes: Span<UInt8>, at now: Duration) -> LineContent {
        var newest: Fix?
        decoder.decode(bytes, receivedAt: now) { newest = $0 }
        // A receiver without checksums has no counted sentence, but a fix is proof enough.
        return LineContent(newestFix: newest, sentences: counter.count(in: bytes) + (newest == nil ? 0 : 1))
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

    var hasBinaryFrames: Bool { decoder.statistics.binaryBytes > 0 }

    var idleDeadline: Duration? { decoder.idleDeadline }
}
