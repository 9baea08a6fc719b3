package import GNSS
import LinuxPlatform
package import ReportedText
package import Reporting
package import SQLiteOutbox
package import TimeAndChance
package import VehicleAuthorization

/// Keeps what status, metrics and summaries show of one agent.
package final class AgentMonitor: ReportingObserver {
    /// The agent as it stands.
    package struct Snapshot: Sendable {
        package var counts = DeliveryCounts()
        package var receiver: ReceiverState?
        /// When the receiver reported that.
        package var receiverAt = Duration.zero
        /// The satellites that the receiver saw last.
        package var sky: (sky: Sky, at: Duration)?
        /// When each of the receiver's warnings came last.
        package var warningsAt: [ReceiverWarning: Duration] = [:]
        package var lastFix: (fix: Fix, at: Duration)?
        /// When the last one came of which nothing is told.
        package var withheldAt: Duration?
        /// Since when the vehicle is private; `nil` while it is not.
        package var privateSince: Duration?
        /// When the first one came.
        package var firstFixAt: Duration?
        /// By how much the last fix was dated before the moment at which it came, by the clock of Fleet Engine, or else
        /// by a host's that is kept right; `nil` while neither tells the time, and of recorded logs.
        package var lagOfLastFix: Duration?
        /// What was wrong with the last fix that was rejected.
        package var lastRejection: (rejection: FixRejection, at: Duration)?
        /// When Fleet Engine took the last position, and the time of its fix.
        package var lastDelivery: (timeOfFix: UTCTime, at: Duration)?
        /// Why nothing is sent at this moment; `nil` while all is well.
        package var trouble: DeliveryTrouble?
        /// Why the outbox takes no updates, so that positions are sent from memory only; `nil` while it does.
        package var memoryOnly: (reason: ReportedText, since: Duration)?
        /// Why the token cannot be renewed, and until when the one in hand serves; `nil` while it can.
        package var renewalTrouble: (reason: ReportedText, since: Duration, tokenUntil: Duration)?
        /// Until when the token in hand serves; `nil` while there is none.
        package var tokenUntil: Duration?
        /// Why no token came, or the one in hand was not accepted, when that was last so.
        package var lastTokenRejection: (reason: ReportedText, at: Duration)?
        /// By how much the host's clock is ahead of Fleet Engine's, or where that has not been heard of late, of the
        /// receiver's.
        package var clockOffset: (offset: Duration, isServers: Bool, at: Duration)?
        /// Fleet Engine's time with the last answer that told it.
        package var serverTime: (time: UTCTime, at: Duration)?
        /// Until when nothing is sent, as the upload loop said.
        package var waitsUntil: Duration?
        /// How often the outbox did not answer and was bypassed.
        package var storeBypasses = 0
        /// Why the last run ended itself.
        package var lastStall: StallRecord?
        /// The outbox's warnings in force, which it gives although it stores updates.
        fileprivate var outboxWarnings: [OutboxWarning: String] = [:]
        /// The most serious warning of the outbox in force.
        package var outboxWarning: String? { outboxWarnings.min { $0.key < $1.key }?.value }
        /// From the arrival of a fix to the acknowledgement.
        package var delays = DeliveryDelays()
        /// When the configuration in force was read; `nil` where none is reloaded.
        package var loadedAt: UTCTime?
        /// From which file.
        package var loadedFrom: String?
        /// Why the last reload changed nothing, as everybody may read it; `nil` when it did, and before the first.
        package var rejectedReload: (reason: String, at: Duration)?
        /// How far into the time of its logs a replay has come, how long they are, and since when it plays them.
        package var progress: (reached: Duration, of: Duration, since: Duration)?

        fileprivate mutating func delivery(
            meets kind: DeliveryTrouble.Kind, _ reason: ReportedText, at now: Duration
        ) {
            trouble = DeliveryTrouble(kind, reason, since: trouble?.since ?? now)
        }

        /// Fleet Engine states its time in whole seconds, a receiver may state a wrong date.
        fileprivate mutating func compare(_ time: UTCTime, isServers: Bool, with system: UTCTime, at now: Duration) {
            if !isServers, let clockOffset, clockOffset.isServers, now - clockOffset.at < .seconds(600) { return }
            clockOffset = (time.duration(to: system), isServers, now)
        }

        /// Fleet Engine's time at `now`; `nil` while it has not told it.
        package func serversTime(at now: Duration) -> UTCTime? {
            serverTime.map { $0.time.advanced(by: now - $0.at) }
        }

        /// Why no fix that came was taken, as far as the receiver's output tells; `nil` when one was, or none came.
        package var reasonForNoFix: String? {
            guard firstFixAt == nil else { return nil }
            if let lastRejection {
                return
                    "\(counts.fixesRead.counted("fix", "fixes")) rejected; of the last one \(lastRejection.rejection)"
            }
            return warningsAt.filter(\.key.preventsFix).max { $0.value < $1.value }?.key.description
        }

        /// The present by the time of the last fix; `nil` before the first.
        package func presentByFix(at now: Duration) -> UTCTime? {
            lastFix.map { $0.fix.timeOfFix.advanced(by: now - $0.at) }
        }
    }

    private let clock: MonotonicClock
    private let systemTime: (@Sendable () -> UTCTime)?
    private let synchronizedTime: @Sendable () -> UTCTime?
    private let state = Locked(Snapshot())

    /// `systemTime` is the host's, to be compared with others'; `nil` for recorded logs, which keep their dates.
    /// `synchronizedTime` is the same while something keeps it right, else `nil`.
    package init(
        clock: MonotonicClock, systemTime: (@Sendable () -> UTCTime)? = nil,
        synchronizedTime: @escaping @Sendable () -> UTCTime? = { nil }
    ) {
        (self.clock, self.systemTime, self.synchronizedTime) = (clock, systemTime, synchronizedTime)
    }

    package var snapshot: Snapshot { state.withLock { $0 } }

    /// Time since the start.
    package var uptime: Duration { clock.now }

    /// Counts that the outbox did not answer and was bypassed.
    func countStoreBypass() { state.withLock { $0.storeBypasses += 1 } }

    /// Counts the tokens that the provider was asked for, and notes how their renewal fares.
    package func note(_ event: TokenEvent) {
        switch event {
        case .asked: state.withLock { $0.counts.tokenFetches += 1 }
        case .renewal(let renewal, _): note(renewal)
        case .answered, .warning: break
        }
    }

    private func note(_ renewal: TokenRenewal) {
        let now = clock.now
        state.withLock { state in
            switch renewal {
            case .works(let remaining): (state.renewalTrouble, state.tokenUntil) = (nil, now + remaining)
            case .lapsed: (state.renewalTrouble, state.tokenUntil) = (nil, nil)
            case .fails(let error, let remaining):
                state.renewalTrouble = ("\(error)", state.renewalTrouble?.since ?? now, now + remaining)
                state.tokenUntil = now + remaining
                if error.isRefusal { state.lastTokenRejection = ("\(error)", now) }
            }
        }
    }

    /// Notes why the outbox is not open, or that it is.
    func note(notOpen error: OutboxError?) {
        let now = clock.now
        state.withLock { $0.memoryOnly = error.map { ("\($0)", now) } }
    }

    /// Notes why the last run ended itself.
    package func note(lastStall: StallRecord) { state.withLock { $0.lastStall = lastStall } }

    /// Notes a warning of the outbox, or with `nil` that it is over.
    package func note(_ warning: OutboxWarning, _ text: String?) {
        state.withLock { $0.outboxWarnings[warning] = text }
    }

    /// Notes which file the configuration is read from.
    package func note(loadedFrom file: String) { state.withLock { $0.loadedFrom = file } }

    /// Notes that the configuration in force was read at `time`.
    package func note(loadedAt time: UTCTime) {
        state.withLock { ($0.loadedAt, $0.rejectedReload) = (time, nil) }
    }

    /// Notes that another configuration was to be loaded, and why it was not.
    package func note(rejectedReload reason: String) {
        let now = clock.now
        state.withLock { $0.rejectedReload = (reason, now) }
    }

    package func observe(_ event: ReportingEvent) {
        let now = clock.now
        let system = systemTime?()
        state.withLock { state in
            state.counts.count(event)
            switch event {
            case .receiver(let receiver):
                state.receiver = receiver
                state.receiverAt = now
            case .receiverWarning(let warning): state.warningsAt[warning] = now
            case .progress(let reached, let length):
                state.progress = (reached, length, state.progress?.since ?? now)
            case .sky(let sky): state.sky = (sky, now)
            case .privateModeBegan: state.privateSince = now
            case .privateModeEnded: state.privateSince = nil
            case .withheld:
                state.withheldAt = now
                state.firstFixAt = state.firstFixAt ?? now
            case .fix(let fix):
                state.lastFix = (fix, now)
                state.firstFixAt = state.firstFixAt ?? now
                if let system {
                    state.compare(fix.timeOfFix, isServers: false, with: system, at: now)
                    let present = state.serversTime(at: now) ?? synchronizedTime()
                    state.lagOfLastFix = present.map { fix.timeOfFix.duration(to: $0) }
                }
            case .serverTime(let time):
                state.serverTime = (time, now)
                if let system { state.compare(time, isServers: true, with: system, at: now) }
            case .uploading: state.waitsUntil = nil
            case .delivered(let batch, _, _):
                if batch.lastIsPending, let present = state.presentByFix(at: now) {
                    state.delays.add(batch.last.timeOfFix.duration(to: present))
                }
                state.lastDelivery = (batch.last.timeOfFix, now)
                state.trouble = nil
            case .failed(let outcome, _, _):
                state.delivery(meets: DeliveryTrouble.Kind(outcome), outcome.reason, at: now)
                if case .prepareAgain = outcome {
                    state.lastTokenRejection = ("Fleet Engine rejected it: \(outcome.reason)", now)
                }
            case .notPrepared(let fault):
                state.delivery(meets: .token, fault.reason, at: now)
                if case .noPermit(let missing) = fault, missing.cause.isRejection {
                    state.lastTokenRejection = (fault.reason, now)
                }
            // While positions go out from memory nothing waits for the outbox.
            case .outboxFailed(let error):
                if state.memoryOnly == nil { state.delivery(meets: .outbox, "\(error)", at: now) }
            case .notStored(_, let error):
                state.memoryOnly = ("\(error)", state.memoryOnly?.since ?? now)
                if state.trouble?.kind == .outbox { state.trouble = nil }
            case .accepted: state.memoryOnly = nil
            case .waiting(let delay): state.waitsUntil = now + delay
            case .rejected(_, let rejection): state.lastRejection = (rejection, now)
            case .announced:
                state.waitsUntil = nil
                if state.trouble?.kind != .outbox { state.trouble = nil }
            case .tooSoon, .dropped, .quarantined, .idle, .internalError: break
            }
        }
    }
}

/// Why nothing is sent at a moment, and since when.
package struct DeliveryTrouble: Sendable, Hashable {
    /// Where delivery ends; the words of `/status`.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case token
        case tokenRejected = "token_rejected"
        case retry, throttled, unreachable, intercepted, hold, rejected, outbox

        /// `delivered` is none.
        init(_ outcome: DeliveryOutcome) {
            self =
                switch outcome {
                case .prepareAgain: .tokenRejected
                case .delivered, .retry: .retry
                case .throttled: .throttled
                case .unanswered: .unreachable
                case .intercepted, .tooLarge: .intercepted
                case .held: .hold
                case .rejected: .rejected
                }
        }

        /// What it is, before the reason and a colon.
        fileprivate var words: ReportedText {
            switch self {
            case .token: "there is no token"
            case .tokenRejected: "Fleet Engine rejects the token"
            case .retry: "Fleet Engine cannot take updates now"
            case .throttled: "Fleet Engine limits how often updates come"
            case .unreachable: "Fleet Engine cannot be reached"
            case .intercepted: "something else answers in Fleet Engine's place"
            case .hold: "Fleet Engine takes no updates of this vehicle"
            case .rejected: "Fleet Engine rejects an update"
            case .outbox: "the outbox cannot be read"
            }
        }
    }

    package let kind: Kind
    /// In the words of whoever met it.
    package let reason: ReportedText
    package let since: Duration

    init(_ kind: Kind, _ reason: ReportedText, since: Duration) {
        (self.kind, self.reason, self.since) = (kind, reason, since)
    }

    /// A clause, as "there is no token: the token endpoint answered 403".
    package var clause: ReportedText { "\(kind.words): \(reason)" }
}

/// What has happened since the agent started, counted: the figures of summaries, status and metrics.
package struct DeliveryCounts: Sendable, Hashable {
    package var fixes = 0
    /// Fixes of which nothing is told, as the vehicle is private.
    package var withheld = 0
    package var accepted = 0
    package var delivered = 0
    package var requests = 0
    package var retries = 0
    package var tokenFetches = 0
    package var traffic = Traffic()
    package var rejectedFixes: [String: Int] = [:]
    package var receiverWarnings: [String: Int] = [:]
    package var notStored = 0
    /// Updates that were never stored, because memory held no more of them.
    package var dropped = 0

    package init() {}

    /// All fixes that came, whatever became of them.
    package var fixesRead: Int { fixes + withheld + rejectedFixes.values.reduce(0, +) }

    package mutating func count(_ event: ReportingEvent) {
        switch event {
        case .fix: fixes += 1
        case .withheld: withheld += 1
        case .rejected(_, let rejection): rejectedFixes[rejection.label, default: 0] += 1
        case .receiverWarning(let warning): receiverWarnings[warning.label, default: 0] += 1
        case .accepted: accepted += 1
        case .notStored: notStored += 1
        case .dropped(let count): dropped += count
        case .uploading: requests += 1
        case .delivered(let batch, let traffic, _):
            delivered += batch.pending.count
            self.traffic += traffic
        case .failed(let outcome, let traffic, _):
            if outcome.isFailedAttempt { retries += 1 }
            self.traffic += traffic
        case .announced(_, let traffic):
            requests += 1
            self.traffic += traffic
        case .receiver, .sky, .progress, .privateModeBegan, .privateModeEnded, .tooSoon, .notPrepared, .outboxFailed,
            .quarantined, .waiting, .serverTime, .idle, .internalError:
            break
        }
    }
}

extension AuthorizationError {
    /// Whether there was an answer, or there will be none as things are set up; the others resolve themselves.
    fileprivate var isRefusal: Bool { code == .refused || code == .unusableAnswer || code == .misconfigured }
}

/// Several observers as one.
struct ReportingObservers: ReportingObserver {
    private let observers: [any ReportingObserver]

    init(_ observers: [any ReportingObserver]) { self.observers = observers }

    func observe(_ event: ReportingEvent) {
        for observer in observers { observer.observe(event) }
    }
}

/// How long live positions take from the arrival of their fix to Fleet Engine's acknowledgement, counted since the
/// start. What goes out behind them would drown them: a backlog, and shape points, which wait for their update.
package struct DeliveryDelays: Sendable, Hashable, Codable {
    /// Upper ends in seconds, but for the last of `counts`: within these a passenger's map, an outage and a night
    /// without a network are told apart.
    package static let bounds = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400]

    /// Deliveries by delay: within each of `bounds` and above the one before; the last counts those above all.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// Of all delays together.
    package private(set) var sumMilliseconds: Int64 = 0

    package init() {}

    /// Counts one; a clock that was set back makes no delay negative.
    package mutating func add(_ delay: Duration) {
        let delay = max(.zero, delay)
        counts[Self.bounds.firstIndex { delay <= .seconds($0) } ?? Self.bounds.count] += 1
        sumMilliseconds += Int64(delay / .milliseconds(1))
    }
}
