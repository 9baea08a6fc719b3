import FleetEngine
import GNSS
import HTTPMessages
import LinuxPlatform
package import LocationReporting
import SQLiteOutbox

/// Tells the log what an operator needs to read: changes at once, repetitions now and then, routine at debug level.
package final class EventLog: ReportingObserver {
    private let log: LogWriter
    private let clock: MonotonicClock
    /// How often a continuing trouble is logged again.
    private static let reminderInterval = Duration.seconds(600)

    private let topics = Locked(RepetitionFilter())

    package init(log: LogWriter, clock: MonotonicClock) { (self.log, self.clock) = (log, clock) }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .receiver(let receiver): tell(receiver)
        case .receiverWarning(.datedByHost):  // once: it is so as long as the receiver is what it is
            let warning = ReceiverWarning.datedByHost
            if count("", of: "reminder: \(warning.label)", again: nil) != nil { log.write(.info, "\(warning)") }
        case .receiverWarning(let warning): remind(of: warning.label, "\(warning)")
        case .refused(_, let refusal): remind(of: refusal.label, "fix rejected: \(refusal)")
        case .accepted(let stored):
            if end("unstored") { log.write(.info, "the outbox accepts updates again") }
            log.write(.debug, "accepted update \(stored.sequence)")
        case .notStored(let error):
            if count("\(error)", of: "unstored") != nil {
                log.write(.error, "positions are sent from memory only: \(error)")
            }
        case .delivered(let batch, let traffic, let took):
            if end("trouble") {
                log.write(.info, "delivery works again; \(batch.pending.count) updates delivered at once")
            }
            log.write(
                .debug,
                "delivered \(batch.pending.count) in \(took), \(traffic.bytesSent) bytes sent, "
                    + "\(traffic.bytesReceived) received")
        case .failed(let outcome, _): tellTrouble(Self.words(for: outcome), Self.level(of: outcome))
        case .noToken(let error): tellTrouble("no token, updates are kept: \(error)", .warning)
        case .outboxFailed(let error): remind(of: "outbox: \(error.code)", "outbox: \(error)", .error)
        case .waiting(let delay, _): log.write(.debug, "next attempt in \(delay)")
        case .quarantined(let stored, let reason):
            log.write(.error, "update \(stored.sequence) quarantined, Fleet Engine rejects it: \(reason)")
        case .stateSent(let vehicleState, _): log.write(.info, "vehicle is \(vehicleState.rawValue)")
        case .progress, .fix, .uploading, .serverTime, .idle: break
        }
    }

    private func tell(_ receiver: ReceiverState) {
        let text = receiver.description
        guard count(text, of: "receiver", again: nil) != nil else { return }
        log.write(receiver.isTrouble ? .warning : .info, text)
    }

    /// Whatever its words: the figures in them change.
    private func remind(of label: String, _ text: String, _ level: LogLevel = .warning) {
        if count("", of: "reminder: \(label)") != nil { log.write(level, text) }
    }

    private func tellTrouble(_ text: String, _ level: LogLevel) {
        guard let told = count(text, of: "trouble") else { return }
        log.write(level, told > 0 ? "\(text) (\(told) more times since last logged)" : text)
    }

    private func count(_ words: String, of topic: String, again interval: Duration? = reminderInterval) -> Int? {
        let now = clock.now
        return topics.withLock { $0.tell(words, of: topic, again: interval, at: now) }
    }

    private func end(_ topic: String) -> Bool { topics.withLock { $0.end(topic) } }

    private static func words(for outcome: UploadOutcome) -> String {
        switch outcome {
        case .delivered: ""
        case .tokenRefused(let reason): "token rejected, updates are kept: \(reason)"
        case .retry(let reason, _): "upload failed, retry follows: \(reason)"
        case .unreachable(let reason): "Fleet Engine unreachable, retry follows: \(reason)"
        case .intercepted(let reason): "upload intercepted, retry follows: \(reason)"
        case .throttled(let reason, _): "throttled, uploads go out less often for a while: \(reason)"
        case .hold(let reason): "delivery is on hold, updates are kept: \(reason)"
        case .rejected(let reason): "Fleet Engine rejects an update: \(reason)"
        }
    }

    private static func level(of outcome: UploadOutcome) -> LogLevel {
        if case .rejected = outcome { .error } else { .warning }
    }
}

/// Decides when the eviction of pending updates is logged: the first at once, then every ten minutes at most.
///
/// Those that an operator discards, and those lost to damage, are logged elsewhere.
struct EvictionNotice {
    private static let interval = Duration.seconds(600)
    private static let reasons = [EvictionReason.thinned, .oldest, .age]

    /// By reason, what has been logged, or was there at the start.
    private var told: [EvictionReason: Int64] = [:]
    private var topics = RepetitionFilter()

    /// `evictions`: those of before.
    init(since evictions: Evictions) { note(evictions) }

    /// The line for the log, if there is one at `now`.
    mutating func line(_ evictions: Evictions, at now: Duration) -> String? {
        let fresh = Self.reasons.map { ($0, evictions[$0].count - (told[$0] ?? 0)) }.filter { $0.1 > 0 }
        guard !fresh.isEmpty, topics.tell(of: "evictions", again: Self.interval, at: now) != nil else { return nil }
        note(evictions)
        let counts = fresh.map { reason, count in
            switch reason {
            case .thinned: "\(count) thinned, the others keep the track"
            case .oldest: "\(count) of the oldest"
            case .age, .damage, .discarded: "\(count) too old"
            }
        }
        return "pending updates evicted: \(counts.joined(separator: "; ")). Find out why nothing is delivered"
    }

    private mutating func note(_ evictions: Evictions) {
        for reason in Self.reasons { told[reason] = evictions[reason].count }
    }
}
