import GNSS
import Reporting

/// The decoder and the watch of one open line, from its opening to its loss.
///
/// A session has no descriptor and no clock; all times are on one monotonic scale.
struct LineSession: Sendable {
    private var decoder: any LineDecoder
    private(set) var watch: LineWatch
    /// The idle deadline that has passed already; the decoder may hold the epoch back for longer.
    private var passedDeadline: Duration?
    private var skyTakenAt: Duration?

    /// The minimum time between two skies: the sky changes slowly, and a receiver reports it in many sentences.
    private static let skyInterval = Duration.seconds(1)

    init(decoder: any LineDecoder, watch: LineWatch) {
        self.decoder = decoder
        self.watch = watch
    }

    /// The fault that prevents fixes, as reported by the other side.
    var obstacle: ReceiverFault? { decoder.obstacle }
    var findings: LineFindings { decoder.findings }

    /// The trouble of a line on which bytes arrive, but no sentence.
    var noise: LineTrouble { readableText ?? .noise }
    /// The trouble of a line on which no bytes arrive. A sender of text may have sent a greeting and be waiting for an
    /// answer.
    var silence: LineTrouble { readableText ?? .silence }

    private var readableText: LineTrouble? {
        let findings = findings
        return findings.isReadableText ? .text(findings.textBeginning) : nil
    }

    /// The evidence for or against the baud rate.
    var evidence: BaudRateEvidence {
        if watch.hasSentence { return .sentences }
        let findings = findings
        if findings.lacksChecksums { return .withoutChecksum }
        if findings.hasBinaryFrames { return .binaryFrames }
        if findings.isReadableText { return .text }
        return watch.hasBytes ? .noise : .silence
    }

    /// Decodes the next bytes and calls `made` for each fix. Returns the newest fix.
    mutating func take(_ bytes: Span<UInt8>, at now: Duration, made: (Fix) -> Void = { _ in }) -> Fix? {
        var newest: Fix?
        let sentences = decoder.take(bytes, at: now) {
            newest = $0
            made($0)
        }
        watch.recordBytes(sentences: sentences, at: now)
        return newest
    }

    mutating func takeWarning() -> ReceiverWarning? { decoder.takeWarning() }

    /// Returns the satellites in view, at most once per `skyInterval`; `nil` if there is nothing new.
    mutating func takeSky(at now: Duration) -> Sky? {
        if let skyTakenAt, now - skyTakenAt < Self.skyInterval { return nil }
        guard let sky = decoder.takeSky(at: now) else { return nil }
        skyTakenAt = now
        return sky
    }

    /// Called when nothing has arrived until `now`. Completes the current epoch if its deadline has passed.
    mutating func lineIsIdle(at now: Duration) -> Fix? {
        let deadline = decoder.idleDeadline
        if let deadline, deadline <= now { passedDeadline = deadline }
        var newest: Fix?
        decoder.lineIsIdle(at: now) { newest = $0 }
        return newest
    }

    /// Called at the end of the line. Completes the current epoch.
    mutating func finish() -> Fix? {
        var newest: Fix?
        decoder.finish { newest = $0 }
        return newest
    }

    /// Returns the next time after `now` at which there is something to do even if nothing arrives.
    func wakeUp(after now: Duration) -> Duration {
        let nextChange = watch.nextChange(after: now)
        guard let deadline = decoder.idleDeadline, deadline != passedDeadline else { return nextChange }
        return min(deadline, nextChange)
    }
}
