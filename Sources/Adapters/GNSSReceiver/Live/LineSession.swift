import GNSS
import Reporting

/// What is made of the bytes of one open line, from its opening to its loss: fixes, and a judgement of the line.
///
/// Knows no descriptor and no clock; all times are on one monotonic scale.
struct LineSession: Sendable {
    private var decoder: any LineDecoder
    private(set) var watch: LineWatch
    /// The idle deadline that has been reported already; the decoder may keep an epoch back beyond it.
    private var passedDeadline: Duration?
    private var skyTakenAt: Duration?

    /// The sky changes slowly, and a receiver speaks of it in many sentences.
    private static let skyInterval = Duration.seconds(1)

    init(decoder: any LineDecoder, watch: LineWatch) {
        self.decoder = decoder
        self.watch = watch
    }

    /// See `LineDecoder`.
    var obstacle: ReceiverFault? { decoder.obstacle }
    var causeOfNoise: ReceiverFault? { decoder.causeOfNoise }
    var stranger: ReceiverFault? { decoder.stranger.map { .otherSpeaker($0) } }
    var lackOfPositions: ReceiverFault? { decoder.lackOfPositions }
    var statistics: DecoderStatistics? { decoder.statistics }

    /// What is wrong with a line on which bytes arrive, but no sentence.
    var trouble: LineTrouble { decoder.isReadableText ? .text(decoder.textBeginning) : .noise }

    /// The same where nothing arrives any more: a greeting comes once, and then its sender waits.
    var silence: LineTrouble { decoder.isReadableText ? trouble : .silence }

    /// What the bytes so far say of the rate at which they were read.
    var evidence: BaudRateEvidence {
        if watch.hasSentence { return .sentences }
        if decoder.lacksChecksums { return .withoutChecksum }
        if decoder.hasBinaryFrames { return .binaryFrames }
        if decoder.isReadableText { return .text }
        return watch.hasBytes ? .noise : .silence
    }

    /// Takes the next bytes and gives the newest fix in them; `made` hears of each.
    mutating func take(_ bytes: Span<UInt8>, at now: Duration, made: (Fix) -> Void = { _ in }) -> Fix? {
        var newest: Fix?
        let sentences = decoder.take(bytes, at: now) {
            newest = $0
            made($0)
        }
        watch.bytesArrived(sentences: sentences, at: now)
        return newest
    }

    /// What the receiver has warned of since the last call.
    mutating func takeWarning() -> ReceiverWarning? { decoder.takeWarning() }

    /// What is seen of the satellites, if there is news of them and the last is not a moment old.
    mutating func takeSky(at now: Duration) -> Sky? {
        if let skyTakenAt, now - skyTakenAt < Self.skyInterval { return nil }
        guard let sky = decoder.takeSky(at: now) else { return nil }
        skyTakenAt = now
        return sky
    }

    /// Nothing has come until `now`: completes the current epoch if its time is over.
    mutating func lineIsIdle(at now: Duration) -> Fix? {
        let deadline = decoder.idleDeadline
        if let deadline, deadline <= now { passedDeadline = deadline }
        var newest: Fix?
        decoder.lineIsIdle(at: now) { newest = $0 }
        return newest
    }

    /// The line has ended: completes the current epoch.
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
