package import Conditions
import FleetEngineDelivery
package import GNSS
import LinuxPlatform
import ReportedText
package import Reporting
package import SQLiteOutbox
package import TimeAndChance
package import VehicleAuthorization

/// Keeps the state of one agent for status, metrics and summaries, and logs its conditions.
package final class AgentMonitor: ReportingObserver {
    package struct Snapshot: Sendable {
        package var counts = DeliveryCounts()
        package var conditions = ActiveConditions()
        package var receiver = Receiver()
        package var delivery = Delivery()
        package var token = Token()
        package var clocks = Clocks()
        /// The time at which private mode began; `nil` while it is off.
        package var privateSince: Duration?
        /// The number of times that the outbox didn't answer and was bypassed.
        package var storeBypasses = 0
        package var configuration = Loaded()
        /// A replay's position in its logs, their total length, and the time at which the replay began.
        package var progress: (reached: Duration, of: Duration, since: Duration)?
    }

    /// The receiver and its last fixes.
    package struct Receiver: Sendable {
        package var state: ReceiverState?
        /// The time at which the receiver reported `state`.
        package var stateAt = Duration.zero
        /// The satellites that the receiver last reported.
        package var sky: (sky: Sky, at: Duration)?
        package var lastFix: (fix: Fix, at: Duration)?
        /// The time of the last fix that private mode withheld.
        package var withheldAt: Duration?
        /// The time of the last fix, withheld or not.
        package var lastFixAt: Duration? { [lastFix?.at, withheldAt].compactMap(\.self).max() }
        /// The last fix that was rejected.
        package var lastRejection: FixRejection?
        /// The last warning about a problem that prevents fixes.
        package var obstacle: ReceiverWarning?

        /// Returns the present, derived from the time of the last fix; `nil` before the first fix.
        package func present(at now: Duration) -> UTCTime? {
            lastFix.map { $0.fix.timeOfFix.advanced(by: now - $0.at) }
        }
    }

    /// The deliveries to Fleet Engine.
    package struct Delivery: Sendable {
        /// The time of fix of the last delivered position, and the time at which Fleet Engine acknowledged it.
        package var last: (timeOfFix: UTCTime, at: Duration)?
        /// The time of the next attempt, if the upload loop is waiting for it.
        package var waitsUntil: Duration?
        /// The delays from the arrival of a fix to the acknowledgement.
        package var delays = DeliveryDelays()
    }

    package struct Token: Sendable {
        /// The time until which the token is used; `nil` while there is no token.
        package var usedUntil: Duration?
        /// The condition that last prevented a token or rejected one, and its time.
        package var lastRejection: (code: ConditionCode, at: Duration)?
        /// The time of the last warning about tokens.
        fileprivate var warnedAt: Duration?
    }

    /// The readings of other clocks.
    package struct Clocks: Sendable {
        /// The offset of the host's clock from Fleet Engine's, or from the receiver's if Fleet Engine hasn't sent its
        /// time within ten minutes.
        package var offset: (offset: Duration, isServers: Bool, at: Duration)?
        /// Fleet Engine's time in the last answer that contained it.
        package var server: (time: UTCTime, at: Duration)?

        /// Returns Fleet Engine's time at `now`; `nil` if no answer has contained it.
        func server(at now: Duration) -> UTCTime? { server.map { $0.time.advanced(by: now - $0.at) } }

        /// Compares the host's clock with `time`. Fleet Engine's time takes precedence, although it is in whole
        /// seconds, because a receiver may send a wrong date.
        fileprivate mutating func compare(_ time: UTCTime, isServers: Bool, with system: UTCTime, at now: Duration) {
            if !isServers, let offset, offset.isServers, now - offset.at < .seconds(600) { return }
            offset = (time.duration(to: system), isServers, now)
        }
    }

    /// The current configuration.
    package struct Loaded: Sendable {
        /// The time at which the configuration was read; `nil` if it is never reloaded.
        package var loadedAt: UTCTime?
        package var file: String?
    }

    private let clock: MonotonicClock
    private let log: LogWriter?
    private let isOfMany: Bool
    private let systemTime: (@Sendable () -> UTCTime)?
    private let synchronizedTime: @Sendable () -> UTCTime?
    private let state: Locked<Snapshot>

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - clock: the clock.
    ///   - log: receives a line when a condition begins, changes or ends.
    ///   - isOfMany: whether the agent serves many vehicles.
    ///   - systemTime: returns the host's time, to compare it with other clocks; `nil` for recorded logs, which keep
    ///     their dates and may pause.
    ///   - synchronizedTime: returns the host's time while it is synchronized, otherwise `nil`.
    package init(
        clock: MonotonicClock, log: LogWriter? = nil, isOfMany: Bool = false,
        systemTime: (@Sendable () -> UTCTime)? = nil,
        synchronizedTime: @escaping @Sendable () -> UTCTime? = { nil }
    ) {
        self.clock = clock
        self.log = log
        self.isOfMany = isOfMany
        self.systemTime = systemTime
        self.synchronizedTime = synchronizedTime
        var snapshot = Snapshot()
        if systemTime != nil { snapshot.conditions.start(at: clock.now) }
        state = Locked(snapshot)
    }

    package var snapshot: Snapshot { state.withLock { $0 } }

    /// The time since the start.
    package var uptime: Duration { clock.now }

    /// Records a condition, which ends after `life` or when `clear` is called.
    package func raise(_ condition: Condition, on topic: ActiveConditions.Topic, for life: Duration? = nil) {
        change { state, now in state.conditions.raise(condition, on: topic, at: now, until: life.map { now + $0 }) }
    }

    /// Records that a condition still lasts. This isn't counted as a repetition.
    package func hold(_ condition: Condition, on topic: ActiveConditions.Topic) {
        change { state, now in state.conditions.hold(condition, on: topic, at: now) }
    }

    /// Records the end of a condition.
    package func clear(_ topic: ActiveConditions.Topic) {
        change { state, now in state.conditions.clear(topic, at: now) }
    }

    /// Counts a bypass of the outbox, which didn't answer.
    package func countStoreBypass() { state.withLock { $0.storeBypasses += 1 } }

    /// Counts requests for tokens, and records warnings and the outcome of renewals.
    package func note(_ event: TokenEvent) {
        switch event {
        case .asked: state.withLock { $0.counts.tokenFetches += 1 }
        case .renewal(let renewal, _): note(renewal)
        case .warning(let warning):
            change { state, now in
                state.token.warnedAt = now
                state.conditions.raise(Condition(warning), on: .one(.tokenSupplyAtRisk), at: now)
            }
        case .answered: break
        }
    }

    private func note(_ renewal: TokenRenewal) {
        change { state, now in
            switch renewal {
            case .working(let remaining):
                state.token.usedUntil = now + remaining
                state.conditions.clear(.renewal, at: now)
                // A warning that still applies is repeated with the first token after ten minutes.
                if let warnedAt = state.token.warnedAt, now - warnedAt >= TokenCache.reminderInterval {
                    state.conditions.clear(.one(.tokenSupplyAtRisk), at: now)
                }
            case .lapsed:
                state.token.usedUntil = nil
                state.conditions.supersede(.renewal)
            case .failing(let error, let remaining):
                state.token.usedUntil = now + remaining
                let failure = Condition(MissingPermit(error))
                let condition = Condition(renewalFailedBy: failure, remaining: remaining)
                state.conditions.raise(condition, on: .renewal, at: now, until: now + remaining)
                if MissingPermit(error).cause.isRejection { state.token.lastRejection = (failure.code, now) }
            }
        }
    }

    /// Records how many updates are in quarantine.
    package func note(quarantined count: Int64) {
        change { state, now in
            let topic = ActiveConditions.Topic.one(.updatesQuarantined)
            if count == 0 {
                state.conditions.clear(topic, at: now)
            } else {
                state.conditions.hold(Condition(quarantined: count), on: topic, at: now)
            }
        }
    }

    /// Records how full the outbox is.
    package func note(_ extent: StoreExtent) {
        change { state, now in
            let topic = ActiveConditions.Topic.one(.outboxNearlyFull)
            let share = extent.usedBytes * 100 / max(1, extent.maximumBytes)
            // The condition ends at a slightly lower share, so that it doesn't flap.
            let limit = state.conditions.active(topic) == nil ? 80 : 75
            guard share >= limit else { return state.conditions.clear(topic, at: now) }
            let condition = Condition(outboxFilledTo: share, ofBytes: extent.maximumBytes)
            state.conditions.hold(condition, on: topic, at: now)
        }
    }

    /// Records which file the configuration is read from.
    package func note(loadedFrom file: String) { state.withLock { $0.configuration.file = file } }

    /// Records that the current configuration was read at `time`.
    package func note(loadedAt time: UTCTime) {
        change { state, now in
            state.configuration.loadedAt = time
            state.conditions.clear(.one(.reloadRejected), at: now)
        }
    }

    /// Records that a reload was rejected because of `problems`.
    package func note(rejectedReload problems: [ConfigurationProblem]) {
        let causes = problems.map { ReportedText($0.sentence, limit: ReportedText.longestSentence) }
        change { state, now in
            let condition = Condition(
                rejectedReload: causes.first ?? "", and: Array(causes.dropFirst()), at: now)
            state.conditions.raise(condition, on: .one(.reloadRejected), at: now)
        }
    }

    package func observe(_ event: ReportingEvent) {
        let system = systemTime?()
        change { state, now in
            state.counts.count(event)
            state.conditions.note(event, at: now, isLive: system != nil)
            switch event {
            case .receiver(let receiver):
                state.receiver.state = receiver
                state.receiver.stateAt = now
            case .receiverWarning(let warning): if warning.preventsFix { state.receiver.obstacle = warning }
            case .progress(let reached, let length):
                state.progress = (reached, length, state.progress?.since ?? now)
            case .sky(let sky): state.receiver.sky = (sky, now)
            case .privateModeBegan: state.privateSince = now
            case .privateModeEnded: state.privateSince = nil
            case .withheld: state.receiver.withheldAt = now
            case .fix(let fix):
                state.receiver.lastFix = (fix, now)
                if let system { state.compare(fix, with: system, synchronizedTime(), at: now) }
            case .serverTime(let time):
                state.clocks.server = (time, now)
                if let system { state.compare(serverTime: time, with: system, at: now) }
            case .uploading: state.delivery.waitsUntil = nil
            case .delivered(let batch, _, _): state.noteDelivery(of: batch, at: now)
            case .failed(let outcome, _, _):
                if case .prepareAgain = outcome, let condition = Condition(outcome) {
                    state.token.lastRejection = (condition.code, now)
                }
            case .notPrepared(let fault):
                if case .noPermit(let missing) = fault, missing.cause.isRejection {
                    state.token.lastRejection = (Condition(missing).code, now)
                }
            case .waiting(let delay): state.delivery.waitsUntil = now + delay
            case .rejected(_, let rejection): state.receiver.lastRejection = rejection
            case .announced: state.delivery.waitsUntil = nil
            case .accepted, .notStored, .dropped, .outboxFailed, .tooSoon, .quarantined, .idle, .internalError: break
            }
        }
    }

    private func change(_ body: (inout Snapshot, Duration) -> Void) {
        let now = clock.now
        let lines = state.withLock { state in
            body(&state, now)
            return state.conditions.takeLines(at: now)
        }
        guard let log else { return }
        // With many vehicles, the line wouldn't say which one is private.
        for line in lines where line.code != .privateMode || !isOfMany { log.write(line) }
    }
}

extension AgentMonitor.Snapshot {
    /// The maximum offset of a correct host clock; it leaves room for a slow serial port or a slow answer.
    private static let clockTolerance = Duration.seconds(30)
    /// The maximum time by which a fix may be ahead of the present; it leaves room for whole seconds and a slow answer.
    private static let maximumLead = Duration.seconds(60)
    /// The maximum age of a fix; it leaves room for a slow serial port and for a receiver that is waking up.
    private static let maximumLag = Duration.seconds(3600)

    /// The reason why no fix was accepted, if the receiver's output shows it; `nil` if a fix was accepted or none
    /// arrived.
    package var reasonForNoFix: String? {
        guard receiver.lastFixAt == nil else { return nil }
        if let rejection = receiver.lastRejection {
            let rejected = counts.fixesRead.counted("fix", "fixes")
            return "\(rejected) rejected; the last one because \(Condition(rejection).cause)"
        }
        return receiver.obstacle.map { "\(Condition($0).line)" }
    }

    fileprivate mutating func noteDelivery(of batch: UploadBatch, at now: Duration) {
        if batch.lastIsPending, let present = receiver.present(at: now) {
            delivery.delays.add(batch.last.timeOfFix.duration(to: present))
        }
        delivery.last = (batch.last.timeOfFix, now)
    }

    /// Checks the time of a fix. If no other source knows the present, checks the host's clock against the fix instead.
    fileprivate mutating func compare(
        _ fix: Fix, with system: UTCTime, _ synchronized: UTCTime?, at now: Duration
    ) {
        clocks.compare(fix.timeOfFix, isServers: false, with: system, at: now)
        guard let present = clocks.server(at: now) ?? synchronized else {
            return checkClock(offset: fix.timeOfFix.duration(to: system), from: .receiver, at: now)
        }
        let lag = fix.timeOfFix.duration(to: present)
        guard lag > Self.maximumLag || lag < .zero - Self.maximumLead else {
            return conditions.clear(.one(.receiverTimeWrong), at: now)
        }
        conditions.hold(Condition(receiverLag: lag), on: .one(.receiverTimeWrong), at: now)
    }

    fileprivate mutating func compare(serverTime time: UTCTime, with system: UTCTime, at now: Duration) {
        clocks.compare(time, isServers: true, with: system, at: now)
        checkClock(offset: time.duration(to: system), from: .fleetEngine, at: now)
    }

    private mutating func checkClock(offset: Duration, from other: Condition.ClockSource, at now: Duration) {
        guard offset > Self.clockTolerance || offset < .zero - Self.clockTolerance else {
            return conditions.clear(.one(.hostClockWrong), at: now)
        }
        conditions.hold(Condition(hostClockOffset: offset, from: other), on: .one(.hostClockWrong), at: now)
    }
}

/// Counts of events since the agent started, for summaries, status and metrics.
package struct DeliveryCounts: Sendable, Hashable {
    package var fixes = 0
    /// The number of fixes that were withheld because the vehicle was private.
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
    /// The number of updates that were never stored, because memory was full.
    package var dropped = 0

    package init() {}

    /// The number of all fixes that arrived, used or not.
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

/// An observer that forwards each event to several observers.
package struct ReportingObservers: ReportingObserver {
    private let observers: [any ReportingObserver]

    package init(_ observers: [any ReportingObserver]) { self.observers = observers }

    package func observe(_ event: ReportingEvent) {
        for observer in observers { observer.observe(event) }
    }
}

/// The delays of live positions since the start, from the arrival of the fix to Fleet Engine's acknowledgement.
/// Backlogs and shape points, which wait for their update, aren't counted, because they would outnumber the live
/// positions.
package struct DeliveryDelays: Sendable, Hashable, Codable {
    /// The upper bounds in seconds of all `counts` but the last. They range from the delay of a passenger's map to an
    /// outage and a night without a network.
    package static let bounds = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400]

    /// The number of deliveries by delay. Each element counts the delays above the previous bound and up to its own
    /// bound; the last element counts the rest.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all delays.
    package private(set) var sumMilliseconds: Int64 = 0

    package init() {}

    /// Counts a delay. A negative delay, which occurs after a clock was set back, is counted as zero.
    package mutating func add(_ delay: Duration) {
        let delay = max(.zero, delay)
        counts[Self.bounds.firstIndex { delay <= .seconds($0) } ?? Self.bounds.count] += 1
        sumMilliseconds += Int64(delay / .milliseconds(1))
    }
}
