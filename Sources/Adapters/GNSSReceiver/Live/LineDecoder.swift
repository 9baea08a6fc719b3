import GNSS

/// Makes fixes of the bytes of one open line, whatever is spoken on it; all times are on one monotonic scale.
///
/// It is called once a read, not once a sentence.
protocol LineDecoder: Sendable {
    /// Takes the next bytes.
    mutating func take(_ bytes: Span<UInt8>, at now: Duration) -> LineContent
    /// Nothing has come until `now`: completes the current epoch if its time is over.
    mutating func lineIsIdle(at now: Duration) -> Fix?
    /// The line has ended: completes the current epoch.
    mutating func finish() -> Fix?
    /// When a quiet line completes the current epoch; `nil` when none is.
    var idleDeadline: Duration? { get }
    /// A kind of warning that has come since it was last taken; `nil` when all are.
    mutating func takeWarning() -> ReceiverWarning?
    /// Whether whole frames of a binary protocol have come: the rate is right, and what is spoken is not wanted.
    var hasBinaryFrames: Bool { get }
    /// What is wrong with bytes that are no sentences, and what to do, where that can be told from them.
    var causeOfNoise: String? { get }
    /// What the other side says that keeps fixes from coming, and what to do; `nil` when it says no such thing.
    var complaint: String? { get }
}

extension LineDecoder {
    mutating func takeWarning() -> ReceiverWarning? { nil }
    var hasBinaryFrames: Bool { false }
    var causeOfNoise: String? { nil }
    var complaint: String? { nil }
}

/// What was found in the bytes of one read.
struct LineContent: Sendable, Hashable {
    var newestFix: Fix?
    /// Whole sentences, or what stands for one: each proves that a receiver is there.
    var sentences = 0
}

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
            "sentences arrive, but without a checksum; if the receiver has none, set receiver.acceptMissingChecksum to "
            + "true"
    }

    var hasBinaryFrames: Bool { decoder.statistics.binaryBytes > 0 }

    var idleDeadline: Duration? { decoder.idleDeadline }
}
