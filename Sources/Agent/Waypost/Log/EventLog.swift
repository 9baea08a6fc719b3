import GNSS
import LinuxPlatform
import ReportedText
package import Reporting
import SQLiteOutbox
import TimeAndChance
import VehicleAuthorization

/// Tells the log what an operator needs to read: changes at once, the first delivery, the end of each trouble,
/// repetitions now and then, routine at debug level.
package final class EventLog: ReportingObserver {
    private struct State {
        var topics = RepetitionFilter()
        var first: FirstDelivery
        var receiver = ReceiverNews()
        /// When fixes were rejected for the first and the last time since one was accepted, and how many.
        var rejected: (first: Duration, last: Duration, count: Int)?
    }

    private let log: LogWriter
    private let clock: MonotonicClock
    /// Fixes that are rejected for no longer than this are nothing that ends.
    private static let longestGlitch = Duration.seconds(60)

    private let state: Locked<State>

    /// What one vehicle does by itself.
    private let levelOfOneVehicle: LogLevel

    /// `tellsFirstDelivery`: as the service does, of which that is the success. `isOfMany`: of many vehicles, what one
    /// of them does is routine.
    package init(
        log: LogWriter, clock: MonotonicClock, tellsFirstDelivery: Bool = false, isOfMany: Bool = false
    ) {
        (self.log, self.clock, levelOfOneVehicle) = (log, clock, isOfMany ? .debug : .info)
        state = Locked(State(first: FirstDelivery(isTold: !tellsFirstDelivery)))
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .receiver(let receiver): state.withLock { $0.receiver.current = receiver }
        case .receiverWarning(.datedByHost):  // once: it is so as long as the receiver is what it is
            let warning = ReceiverWarning.datedByHost
            if count("", of: "reminder: \(warning.label)", again: nil) != nil { log.write(.info, "\(warning)") }
        case .receiverWarning(let warning): remind(of: warning.label, "\(warning)")
        case .privateModeBegan: log.write(levelOfOneVehicle, "the vehicle is private: nothing is told of where it is")
        case .privateModeEnded: log.write(levelOfOneVehicle, "the vehicle is private no more")
        case .fix: tellAcceptance()
        case .rejected(_, let rejection): tell(rejection)
        case .tooSoon(let fix):
            log.write(.debug, "fix of \(fix.timeOfFix) is not reported: the last request began less than 5 s ago")
        case .accepted(let stored):
            tellStorage()
            log.write(.debug, "accepted update \(stored.sequence) of \(stored.update.timeOfFix)")
        case .notStored(_, let error):
            if count("\(error)", of: "unstored") != nil {
                log.write(.error, "positions are sent from memory only: \(error)")
            }
        case .uploading(let batch):
            if end("token") { log.write(.info, "there is a token again") }
            if !batch.pending.isEmpty, end("outbox") { log.write(.info, "the outbox works again") }
        case .delivered(let batch, let traffic, let took):
            tellDelivery(of: batch.pending.count)
            log.write(
                .debug,
                "delivered \(batch.pending.count) in \(took), \(traffic.bytesSent) bytes sent, "
                    + "\(traffic.bytesReceived) received")
        case .failed(let outcome, _, _): tellTrouble(outcome.logLine, Self.level(of: outcome))
        case .notPrepared(let fault):
            _ = count("", of: "token")
            tellTrouble("no token, updates are kept: \(fault.reason)", .warning)
        case .outboxFailed(let error):
            if count("\(error.code)", of: "outbox") != nil { log.write(.error, "outbox: \(error)") }
        case .waiting(let delay): log.write(.debug, "next attempt in \(delay)")
        case .quarantined(let stored, let reason):
            log.write(.error, "update \(stored.sequence) quarantined, Fleet Engine rejects it: \(reason)")
        case .announced(let presence, _):
            if end("token") { log.write(.info, "there is a token again") }
            tellDelivery(of: 0)
            log.write(levelOfOneVehicle, "vehicle is \(presence.words)")
        case .withheld: log.write(.debug, "a fix is withheld: the vehicle is private, or was a moment ago")
        case .internalError(let error):
            log.write(
                .error,
                "internal_error: \(error.event) came while \(error.phase); delivery starts again from the outbox; report it"
            )
        case .sky, .progress, .serverTime, .idle: break
        }
        tellNews(after: event)
    }

    private func tellNews(after event: ReportingEvent) {
        let now = clock.now
        let (first, receiver) = state.withLock {
            ($0.first.line(after: event, at: now), $0.receiver.line(at: now, &$0.topics))
        }
        if let first { log.write(.info, first) }
        if let receiver { log.write(receiver.level, receiver.text) }
    }

    private func tellStorage() {
        let (isStored, isRead) = (end("unstored"), end("outbox"))
        guard isStored || isRead else { return }
        log.write(.info, isStored ? "the outbox accepts updates again" : "the outbox works again")
    }

    /// A heartbeat delivers no update, nor does a state.
    private func tellDelivery(of updates: Int) {
        guard end("trouble") else { return }
        let news = updates > 0 ? "; \(updates.counted("update")) delivered at once" : ""
        log.write(.info, "delivery works again\(news)")
    }

    private func tell(_ rejection: FixRejection) {
        let now = clock.now
        state.withLock { state in
            state.rejected = (state.rejected?.first ?? now, now, (state.rejected?.count ?? 0) + 1)
        }
        remind(of: rejection.label, "fix rejected: \(rejection)")
    }

    private func tellAcceptance() {
        guard let rejected = state.withLock({ $0.rejected.take() }),
            rejected.last - rejected.first >= Self.longestGlitch
        else { return }
        log.write(.info, "fixes are accepted again, after \(rejected.count.grouped) were rejected")
    }

    /// Whatever its words: the figures in them change.
    private func remind(of label: String, _ text: String) {
        if count("", of: "reminder: \(label)") != nil { log.write(.warning, text) }
    }

    private func tellTrouble(_ text: String, _ level: LogLevel) {
        // The figures in one trouble change: how long it took, when it is tried again.
        guard let told = count(text.filter { !$0.isNumber }, of: "trouble") else { return }
        log.write(level, told > 0 ? "\(text) (\(told.counted("more time")) since last logged)" : text)
    }

    private func count(_ words: String, of topic: String, again interval: Duration? = RepetitionFilter.reminderInterval)
        -> Int?
    {
        let now = clock.now
        return state.withLock { $0.topics.tell(words, of: topic, again: interval, at: now) }
    }

    private func end(_ topic: String) -> Bool {
        let now = clock.now
        return state.withLock { $0.topics.end(topic, at: now) }
    }

    private static func level(of outcome: DeliveryOutcome) -> LogLevel {
        if case .rejected = outcome { .error } else { .warning }
    }
}

/// What the log says of the receiver: each state that is new; of one that comes and goes, how it stands from time to
/// time.
private struct ReceiverNews {
    var current: ReceiverState?
    private var told: ReceiverState?
    private var hasReceived = false

    /// The line for the log, if there is one at `now`. Asked at every event, for what found no room is told later.
    mutating func line(at now: Duration, _ topics: inout RepetitionFilter) -> (level: LogLevel, text: String)? {
        guard let current, current != told, topics.mayChange("receiver: \(current.kind)", at: now) else { return nil }
        defer {
            told = current
            hasReceived = hasReceived || current.kind == .receiving
        }
        if case .receiving = current, hasReceived, let told, told.isTrouble {
            return (.info, "\(current)\(told.kind == .noPosition ? ", with a position" : "") again")
        }
        return (current.isTrouble ? .warning : .info, "\(current)")
    }
}

/// The first delivery of a run, with the time from its fix to the acknowledgement.
private struct FirstDelivery {
    var isTold: Bool
    /// The last fix, the first and the last of which an update was made, and the one on its way, by their times and
    /// when they came.
    private var fix, firstUpdate, update, sent: (time: UTCTime, at: Duration)?

    init(isTold: Bool) { self.isTold = isTold }

    mutating func line(after event: ReportingEvent, at now: Duration) -> String? {
        guard !isTold else { return nil }
        switch event {
        case .fix(let new): fix = (new.timeOfFix, now)
        case .accepted, .notStored:
            update = fix
            firstUpdate = firstUpdate ?? fix
        case .uploading(let batch): sent = update?.time == batch.last.timeOfFix ? update : nil
        case .delivered(let batch, _, _):
            isTold = true
            // One that a newer one has overtaken on its way is of this run all the same.
            let isOfThisRun = firstUpdate.map { $0.time <= batch.last.timeOfFix } ?? false
            let origin = isOfThisRun ? "" : ", one of the run before"
            let delay = sent.map { ", \(Self.text(now - $0.at)) after its fix" } ?? origin
            let others = batch.pending.count - (batch.lastIsPending ? 1 : 0)
            let rest = others > 0 ? ", and \(others.counted("earlier one")) with it" : ""
            return "the first position of this run is delivered\(delay)\(rest)"
        default: break
        }
        return nil
    }

    /// `40 ms`, `12 s`.
    private static func text(_ delay: Duration) -> String {
        delay < .seconds(2) ? "\(Int(delay / .milliseconds(1))) ms" : delay.spoken
    }
}

/// Decides when the eviction of pending updates is logged: the first at once, then every ten minutes at most.
///
/// Those that an operator discards, and those lost to damage, are logged elsewhere.
struct EvictionNotice {
    private static let reasons = [EvictionReason.thinned, .oldest, .age]

    /// By reason, what has been logged, or was there at the start.
    private var told: [EvictionReason: Int64] = [:]
    private var topics = RepetitionFilter()

    /// `evictions`: those of before.
    init(since evictions: Evictions) { note(evictions) }

    /// The line for the log, if there is one at `now`.
    mutating func line(_ evictions: Evictions, at now: Duration) -> String? {
        let fresh = Self.reasons.map { ($0, evictions[$0].count - (told[$0] ?? 0)) }.filter { $0.1 > 0 }
        guard !fresh.isEmpty, topics.tell(of: "evictions", again: RepetitionFilter.reminderInterval, at: now) != nil
        else { return nil }
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

/// Tells the log when a vehicle's token cannot be renewed while the one in hand serves, and when it can again.
final class RenewalLog: Sendable {
    private let log: LogWriter
    /// Of whose tokens the log says so.
    private let told = Locked(Set<AuthorizationContext>())

    init(_ log: LogWriter) { self.log = log }

    /// Takes how the renewal of the token for `context` fares.
    func tell(_ renewal: TokenRenewal, of context: AuthorizationContext) {
        switch renewal {
        case .fails(let error, let remaining):
            guard told.withLock({ $0.insert(context).inserted }) else { return }
            log.write(
                .warning,
                "the token of \(context) cannot be renewed; the one in hand is used for \(remaining.spoken) more: "
                    + "\(error)")
        case .works:
            guard told.withLock({ $0.remove(context) }) != nil else { return }
            log.write(.info, "the token of \(context) is renewed again")
        case .lapsed: break  // what comes of that is the upload's trouble
        }
    }
}
