import FleetEngine
package import GNSS
import HTTPMessages
import LinuxPlatform
package import LocationReporting
package import ReportedText
package import SQLiteOutbox
package import TimeAndChance

/// Keeps what status, metrics and summaries show of one agent.
package final class AgentMonitor: ReportingObserver {
    /// The agent as it stands.
    package struct Snapshot: Sendable {
        package var counts = DeliveryCounts()
        package var receiver: ReceiverState?
        /// When each of the receiver's warnings came last.
        package var warningsAt: [ReceiverWarning: Duration] = [:]
        package var lastFix: Fix?
        package var lastFixAt: Duration?
        package var lastDeliveryAt: Duration?
        /// Time of fix of the newest position that Fleet Engine has.
        package var deliveredTimeOfFix: UTCTime?
        /// Why nothing is sent at this moment; `nil` while all is well.
        package var trouble: ReportedText?
        package var troubleSince: Duration?
        /// Why the outbox takes no updates, so that positions are sent from memory only; `nil` while it does.
        package var memoryOnly: ReportedText?
        package var memoryOnlySince: Duration?
        package var isIdle = true
        /// When the request in flight went out; `nil` when there is none.
        package var requestSince: Duration?
        /// Until when nothing is sent, as the upload loop said.
        package var waitsUntil: Duration?
        /// How often a stage was bypassed until it answered: only the outbox is.
        package var repairs: [Stage: Int] = [:]
        /// Why the last run ended itself.
        package var lastStall: StallRecord?
        package var progress: (bytesRead: Int64, totalBytes: Int64?) = (0, nil)
    }

    private let clock: MonotonicClock
    private let state = Locked(Snapshot())

    package init(clock: MonotonicClock) { self.clock = clock }

    package var snapshot: Snapshot { state.withLock { $0 } }

    /// Time since the start.
    package var uptime: Duration { clock.now }

    /// Counts a token that the provider was asked for beyond the cache.
    package func countTokenFetch() { state.withLock { $0.counts.tokenFetches += 1 } }

    /// Counts that the outbox did not answer and was bypassed.
    func countStoreGivenUp() { state.withLock { $0.repairs[.store, default: 0] += 1 } }

    /// Notes why the outbox is not open, or that it is.
    func note(notOpen error: OutboxError?) {
        let now = clock.now
        state.withLock { ($0.memoryOnly, $0.memoryOnlySince) = (error.map { "\($0)" }, error.map { _ in now }) }
    }

    /// Notes why the last run ended itself.
    package func note(lastStall: StallRecord) { state.withLock { $0.lastStall = lastStall } }

    package func observe(_ event: ReportingEvent) {
        let now = clock.now
        state.withLock { state in
            state.counts.count(event)
            switch event {
            case .receiver(let receiver): state.receiver = receiver
            case .receiverWarning(let warning): state.warningsAt[warning] = now
            case .progress(let bytesRead, let totalBytes): state.progress = (bytesRead, totalBytes)
            case .fix(let fix): (state.lastFix, state.lastFixAt) = (fix, now)
            case .uploading: (state.isIdle, state.requestSince, state.waitsUntil) = (false, now, nil)
            case .delivered(let batch, _, _):
                state.requestSince = nil
                state.lastDeliveryAt = now
                state.deliveredTimeOfFix = batch.last.update.timeOfFix
                (state.trouble, state.troubleSince) = (nil, nil)
            case .failed(let outcome, _):
                state.requestSince = nil
                state.note(trouble: outcome.reason, at: now)
            case .noToken(let error): state.note(trouble: "no token: \(error)", at: now)
            case .outboxFailed(let error): state.note(trouble: "\(error)", at: now)
            case .notStored(let error):
                state.memoryOnly = "\(error)"
                state.memoryOnlySince = state.memoryOnlySince ?? now
            case .accepted: (state.memoryOnly, state.memoryOnlySince) = (nil, nil)
            case .idle: state.isIdle = true
            case .waiting(let delay, _): state.waitsUntil = now + delay
            case .refused, .quarantined, .stateSent, .serverTime: break
            }
        }
    }
}

extension AgentMonitor.Snapshot {
    fileprivate mutating func note(trouble text: ReportedText, at now: Duration) {
        if troubleSince == nil { troubleSince = now }
        trouble = text
    }
}

/// What has happened since the agent started, counted: the figures of summaries, status and metrics.
package struct DeliveryCounts: Sendable, Hashable {
    package var fixes = 0
    package var accepted = 0
    package var delivered = 0
    package var requests = 0
    package var retries = 0
    package var tokenFetches = 0
    package var bytesSent = 0
    package var bytesReceived = 0
    package var refusedFixes: [String: Int] = [:]
    package var receiverWarnings: [String: Int] = [:]
    package var notStored = 0
    package var quarantined = 0

    package init() {}

    /// Adds one event.
    package mutating func count(_ event: ReportingEvent) {
        switch event {
        case .fix: fixes += 1
        case .refused(_, let refusal): refusedFixes[refusal.label, default: 0] += 1
        case .receiverWarning(let warning): receiverWarnings[warning.label, default: 0] += 1
        case .accepted: accepted += 1
        case .notStored: notStored += 1
        case .uploading: requests += 1
        case .delivered(let batch, let traffic, _):
            delivered += batch.pending.count
            bytesSent += traffic.bytesSent
            bytesReceived += traffic.bytesReceived
        case .failed(let outcome, let traffic):
            if outcome.isFailedAttempt { retries += 1 }
            bytesSent += traffic.bytesSent
            bytesReceived += traffic.bytesReceived
        case .stateSent(_, let traffic):
            requests += 1
            bytesSent += traffic.bytesSent
            bytesReceived += traffic.bytesReceived
        case .quarantined: quarantined += 1
        case .receiver, .progress, .noToken, .outboxFailed, .waiting, .serverTime, .idle: break
        }
    }

    package static func + (one: Self, other: Self) -> Self {
        var sum = one
        sum.fixes += other.fixes
        sum.accepted += other.accepted
        sum.delivered += other.delivered
        sum.requests += other.requests
        sum.retries += other.retries
        sum.tokenFetches += other.tokenFetches
        sum.bytesSent += other.bytesSent
        sum.bytesReceived += other.bytesReceived
        sum.refusedFixes.merge(other.refusedFixes) { $0 + $1 }
        sum.receiverWarnings.merge(other.receiverWarnings) { $0 + $1 }
        sum.notStored += other.notStored
        sum.quarantined += other.quarantined
        return sum
    }
}

/// Several observers as one.
package struct ReportingObservers: ReportingObserver {
    private let observers: [any ReportingObserver]

    package init(_ observers: [any ReportingObserver]) { self.observers = observers }

    package func observe(_ event: ReportingEvent) {
        for observer in observers { observer.observe(event) }
    }
}

/// How many updates met one fate and from which time, as status and listings print it.
package struct TallyReport: Sendable, Hashable, Codable {
    package let count: Int64
    /// Of the fixes; absent when none is known.
    package let firstTimeOfFix: String?
    package let lastTimeOfFix: String?

    package init(_ tally: UpdateTally) {
        count = tally.count
        firstTimeOfFix = tally.timesOfFix?.lowerBound.description
        lastTimeOfFix = tally.timesOfFix?.upperBound.description
    }

    /// All reasons, also those that have no update.
    package static func byReason(_ evictions: Evictions) -> [String: Self] {
        Dictionary(uniqueKeysWithValues: EvictionReason.allCases.map { ($0.rawValue, Self(evictions[$0])) })
    }
}
