import GNSS
import Reporting

/// The decoder and the `LineWatch` of one open line. They are used until the line is closed.
///
/// A session reads neither the line nor a clock. The caller passes the bytes, and times from one monotonic clock.
struct LineSession: Sendable {
    private var decoder: any LineDecoder
    private(set) var watch: LineWatch
    /// The latest idle deadline that has passed. The session doesn't wait for it again, even if the decoder holds the
    /// epoch back for longer.
    private var passedDeadline: Duration?
    private var skyTakenAt: Duration?

    /// The minimum time between two reports of the satellites in view. They change slowly, but a receiver sends many
    /// sentences about them.
    private static let skyInterval = Duration.seconds(1)

    init(decoder: any LineDecoder, watch: LineWatch) {
        self.decoder = decoder
        self.watch = watch
    }

    /// The fault that prevents fixes; `nil` if the bytes received so far don't reveal one.
    var obstacle: ReceiverFault? { decoder.obstacle }
    var findings: LineFindings { decoder.findings }

    /// The trouble to report if bytes arrive, but no sentence.
    var noise: LineTrouble { readableText ?? .noise }
    /// The trouble to report if no bytes arrive. Any earlier bytes may have been text, because a program may send a
    /// greeting and wait for an answer.
    var silence: LineTrouble { readableText ?? .silence }

    private var readableText: LineTrouble? {
        let findings = findings
        return findings.isReadableText ? .text(findings.textBeginning) : nil
    }

    /// The evidence for or against the line's baud rate, from the bytes so far.
    var evidence: BaudRateEvidence {
        if watch.hasSentence { return .sentences }
        let findings = findings
        if findings.lacksChecksums { return .withoutChecksum }
        if findings.hasBinaryFrames { return .binaryFrames }
        if findings.isReadableText { return .text }
        return watch.hasBytes ? .noise : .silence
    }

    /// Decodes the next bytes and calls `onFix` with each fix. Returns the newest fix.
    mutating func decode(_ bytes: Span<UInt8>, at now: Duration, onFix: (Fix) -> Void = { _ in }) -> Fix? {
        var newest: Fix?
        let sentences = decoder.decode(bytes, at: now) {
            newest = $0
            onFix($0)
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

    /// Completes the current epoch if its deadline has passed, and returns its fix. Called if nothing has arrived by
    /// `now`.
    mutating func handleIdleLine(at now: Duration) -> Fix? {
        let deadline = decoder.idleDeadline
        if let deadline, deadline <= now { passedDeadline = deadline }
        var newest: Fix?
        decoder.handleIdleLine(at: now) { newest = $0 }
        return newest
    }

    /// Completes the current epoch and returns its fix. Called when the line has ended or been lost.
    mutating func finish() -> Fix? {
        var newest: Fix?
        decoder.finish { newest = $0 }
        return newest
    }

    /// Returns the next time after `now` at which the session must be called even if nothing arrives.
    func nextWakeUp(after now: Duration) -> Duration {
        let nextChange = watch.nextChange(after: now)
        guard let deadline = decoder.idleDeadline, deadline != passedDeadline else { return nextChange }
        return min(deadline, nextChange)
    }
}
