import GNSS

/// What is made of the bytes of one open line, from its opening to its loss: fixes, and a judgement of the line.
///
/// Knows no descriptor and no clock; all times are on one monotonic scale.
struct LineSession: Sendable {
    private var decoder: NMEADecoder
    private var sentences = 0
    private(set) var watch: LineWatch
    /// The idle deadline that has been told of already; the decoder may keep an epoch back beyond it.
    private var passedDeadline: Duration?

    init(decoder: NMEADecoder, watch: LineWatch) { (self.decoder, self.watch) = (decoder, watch) }

    /// Takes the next bytes and gives the newest fix in them.
    mutating func take(_ bytes: Span<UInt8>, at now: Duration) -> Fix? {
        var newest: Fix?
        decoder.decode(bytes, receivedAt: now) { newest = $0 }
        let before = sentences
        sentences = decoder.statistics.sentences
        watch.bytesArrived(sentences: sentences - before, at: now)
        return newest
    }

    /// Whether what comes are sentences that lack nothing but their checksums.
    var lacksChecksums: Bool {
        let statistics = decoder.statistics
        let refused = SentenceRefusal.allCases.reduce(0) { $0 + statistics.refusals($1).count }
        return sentences == 0 && statistics.refusals(.missingChecksum).count * 2 > refused
    }

    /// Nothing has come until `now`: completes the epoch under way if its time is over.
    mutating func lineIsIdle(at now: Duration) -> Fix? {
        var newest: Fix?
        let deadline = decoder.idleDeadline
        decoder.lineIsIdle(at: now) { newest = $0 }
        if let deadline, deadline <= now { passedDeadline = deadline }
        return newest
    }

    /// The line has ended: completes the epoch under way.
    mutating func finish() -> Fix? {
        var newest: Fix?
        decoder.finish { newest = $0 }
        return newest
    }

    /// When, after `now`, there is something to do though nothing arrives.
    func wakeUp(after now: Duration) -> Duration {
        let nextChange = watch.nextChange(after: now)
        guard let deadline = decoder.idleDeadline, deadline != passedDeadline else { return nextChange }
        return min(deadline, nextChange)
    }
}
