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
    /// How often a trouble that goes on is told again.
    private static let reminderInterval = Duration.seconds(600)

    private struct State {
        var receiver = ""
        /// The trouble that was told last, when, and how often it has come since.
        var trouble: (text: String, toldAt: Duration, count: Int)?
        /// Why the outbox takes nothing, and when that was told last.
        var unstored: (text: String, at: Duration)?
        /// When each refusal of fixes and each warning of the receiver was told last, by its label.
        var toldAt: [String: Duration] = [:]
    }

    private let state = Locked(State())

    package init(log: LogWriter, clock: MonotonicClock) { (self.log, self.clock) = (log, clock) }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .receiver(let receiver): tell(receiver)
        case .receiverWarning(let warning): remind(of: warning.label, "\(warning)")
        case .refused(_, let refusal): remind(of: refusal.label, "fix rejected: \(refusal)")
        case .accepted(let stored):
            tellStored()
            log.write(.debug, "accepted update \(stored.sequence)")
        case .notStored(let error): tellUnstored("positions are sent from memory only: \(error)")
        case .delivered(let batch, let traffic, let took):
            tellRecovery(delivered: batch.pending.count)
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
        let isNew = state.withLock { state in
            defer { state.receiver = text }
            return state.receiver != text
        }
        guard isNew else { return }
        log.write(receiver.isTrouble ? .warning : .info, text)
    }

    private func remind(of label: String, _ text: String, _ level: LogLevel = .warning) {
        let now = clock.now
        let isDue = state.withLock { state in
            if let last = state.toldAt[label], now - last < Self.reminderInterval { return false }
            state.toldAt[label] = now
            return true
        }
        if isDue { log.write(level, text) }
    }

    private func tellUnstored(_ text: String) {
        let now = clock.now
        let isDue = state.withLock { state in
            if let told = state.unstored, told.text == text, now - told.at < Self.reminderInterval { return false }
            state.unstored = (text, now)
            return true
        }
        if isDue { log.write(.error, text) }
    }

    private func tellStored() {
        let wasUnstored = state.withLock { state in
            defer { state.unstored = nil }
            return state.unstored != nil
        }
        if wasUnstored { log.write(.info, "the outbox takes updates again") }
    }

    private func tellTrouble(_ text: String, _ level: LogLevel) {
        let now = clock.now
        let told: Int? = state.withLock { state in
            if let trouble = state.trouble, trouble.text == text, now - trouble.toldAt < Self.reminderInterval {
                state.trouble?.count += 1
                return nil
            }
            let before = state.trouble.map { $0.text == text ? $0.count : 0 } ?? 0
            state.trouble = (text, now, 0)
            return before
        }
        guard let told else { return }
        log.write(level, told > 0 ? "\(text) (\(told) more times since last told)" : text)
    }

    private func tellRecovery(delivered: Int) {
        let hadTrouble = state.withLock { state in
            defer { state.trouble = nil }
            return state.trouble != nil
        }
        if hadTrouble { log.write(.info, "delivery works again; \(delivered) updates delivered at once") }
    }

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

/// Decides when the log tells that pending updates were evicted: the first at once, then every ten minutes at most.
///
/// Those that an operator discards, and those lost to damage, are told elsewhere.
struct EvictionNews {
    private static let interval = Duration.seconds(600)
    private static let reasons = [EvictionReason.thinned, .oldest, .age]

    /// By reason, what has been told, or was there at the start.
    private var told: [EvictionReason: Int64] = [:]
    private var toldAt: Duration?

    /// `evictions`: those of before.
    init(since evictions: Evictions) { note(evictions) }

    /// The line for the log, if there is one at `now`.
    mutating func line(_ evictions: Evictions, at now: Duration) -> String? {
        if let toldAt, now - toldAt < Self.interval { return nil }
        let fresh = Self.reasons.map { ($0, evictions[$0].count - (told[$0] ?? 0)) }.filter { $0.1 > 0 }
        guard !fresh.isEmpty else { return nil }
        toldAt = now
        note(evictions)
        let counts = fresh.map { reason, count in
            switch reason {
            case .thinned: "\(count) thinned, those that stay tell their way"
            case .oldest: "\(count) of the oldest dropped"
            case .age, .damage, .discarded: "\(count) too old"
            }
        }
        return "pending updates evicted: \(counts.joined(separator: "; ")). See why nothing is delivered"
    }

    private mutating func note(_ evictions: Evictions) {
        for reason in Self.reasons { told[reason] = evictions[reason].count }
    }
}
