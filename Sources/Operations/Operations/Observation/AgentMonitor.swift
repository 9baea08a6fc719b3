package import Conditions
import FleetEngineDelivery
package import GNSS
import LinuxPlatform
import ReportedText
package import Reporting
package import SQLiteOutbox
package import TimeAndRandomness
package import VehicleAuthorization

/// A monitor that keeps the state of one agent for the status, metrics and summaries, and logs the agent's conditions.
package final class AgentMonitor: ReportingObserver {
    package struct Snapshot: Sendable {
        package var counts = DeliveryCounts()
        package var conditions = ActiveConditions()
        package var receiver = Receiver()
        package var delivery = Delivery()
        package var token = Token()
        package var clocks = Clocks()
        /// The time at which private mode began; `nil` while private mode is off.
        package var privateSince: Duration?
        /// The number of times that the outbox exceeded its time limit and was bypassed.
        package var storeBypasses = 0
        package var configuration = LoadedConfiguration()
        /// The progress of a replay: the time reached within its logs, their total length, and the time at which it
        /// began; `nil` if there is no replay.
        package var progress: (reached: Duration, of: Duration, since: Duration)?
    }

    /// The state of the receiver, and its last fixes.
    package struct Receiver: Sendable {
        package var state: ReceiverState?
        /// The time at which `state` was reported.
        package var stateAt = Duration.zero
        /// The satellites in the receiver's last report of them; `nil` before the first report.
        package var sky: (sky: Sky, at: Duration)?
        package var lastFix: (fix: Fix, at: Duration)?
        /// The time at which private mode last withheld a fix; `nil` if it has withheld none.
        package var withheldAt: Duration?
        /// The time of the last fix, including withheld ones; `nil` before the first fix.
        package var lastFixAt: Duration? { [lastFix?.at, withheldAt].compactMap(\.self).max() }
        /// The reason why the last rejected fix was rejected; `nil` if none was rejected.
        package var lastRejection: FixRejection?
        /// The receiver's last warning about a problem that prevents fixes; `nil` if there was none.
        package var obstacle: ReceiverWarning?

        /// Returns the condition that `state` causes at the time `now`; `nil` if it causes none.
        func condition(at now: Duration) -> Condition? { state.flatMap { Condition($0, after: now - stateAt) } }

        /// Returns the current time according to the receiver, calculated from its last fix; `nil` before the first
        /// fix.
        package func present(at now: Duration) -> UTCTime? {
            lastFix.map { $0.fix.timeOfFix.advanced(by: now - $0.at) }
        }
    }

    /// The deliveries to Fleet Engine.
    package struct Delivery: Sendable {
        /// The last delivered position: the time of its fix, and the time at which Fleet Engine acknowledged it; `nil`
        /// before the first delivery.
        package var lastDelivered: (timeOfFix: UTCTime, at: Duration)?
        /// The time of the upload loop's next attempt; `nil` unless the loop is waiting for one.
        package var nextAttempt: Duration?
        /// The times from the arrival of a fix to its acknowledgement.
        package var delays = DeliveryDelays()
    }

    package struct Token: Sendable {
        /// The time at which Waypost stops using the current token; `nil` while there is no token.
        package var usedUntil: Duration?
        /// The last condition that explains why a token was missing or rejected, and the time at which it was raised;
        /// `nil` if there was none.
        package var lastRejection: (code: ConditionCode, at: Duration)?
        /// The time of the last warning about the token provider; `nil` if there was none.
        fileprivate var warnedAt: Duration?
    }

    /// The times of other clocks, with which the host's clock is compared.
    package struct Clocks: Sendable {
        /// The offset of the host's clock from Fleet Engine's clock; `nil` until one is known. If Fleet Engine hasn't
        /// sent its time within ten minutes, it is the offset from the receiver's clock.
        package var offset: (offset: Duration, isFromServer: Bool, at: Duration)?
        /// Fleet Engine's time in the last response that contained it, and the time at which the response arrived;
        /// `nil` before the first such response.
        package var serverTime: (time: UTCTime, at: Duration)?

        /// Returns Fleet Engine's time at the moment `now`; `nil` if no response has contained its time.
        func serverTime(at now: Duration) -> UTCTime? { serverTime.map { $0.time.advanced(by: now - $0.at) } }

        /// Compares the host's time `system` with `time`. Fleet Engine's time takes precedence over the receiver's,
        /// although it has only whole seconds, because a receiver may send a wrong date.
        fileprivate mutating func compare(_ time: UTCTime, isFromServer: Bool, with system: UTCTime, at now: Duration) {
            if !isFromServer, let offset, offset.isFromServer, now - offset.at < .seconds(600) { return }
            offset = (time.duration(to: system), isFromServer, now)
        }
    }

    /// The source of the current configuration.
    package struct LoadedConfiguration: Sendable {
        /// The time at which the configuration was read; `nil` if this agent never reloads it.
        package var loadedAt: UTCTime?
        package var file: String?
    }

    private let clock: MonotonicClock
    private let log: LogWriter?
    private let servesManyVehicles: Bool
    private let systemTime: (@Sendable () -> UTCTime)?
    private let synchronizedTime: @Sendable () -> UTCTime?
    private let state: Locked<Snapshot>

    /// Creates a monitor.
    ///
    /// - Parameters:
    ///   - clock: the clock that times the conditions.
    ///   - log: the writer that receives a line when a condition begins, changes or ends.
    ///   - servesManyVehicles: whether the agent serves many vehicles, as in a load test.
    ///   - systemTime: a function that returns the host's time, which is compared with other clocks; `nil` for recorded
    ///     logs, because their dates are in the past and a replay may pause.
    ///   - synchronizedTime: a function that returns the host's time, or `nil` if the host's clock isn't synchronised.
    package init(
        clock: MonotonicClock, log: LogWriter? = nil, servesManyVehicles: Bool = false,
        systemTime: (@Sendable () -> UTCTime)? = nil,
        synchronizedTime: @escaping @Sendable () -> UTCTime? = { nil }
    ) {
        self.clock = clock
        self.log = log
        self.servesManyVehicles = servesManyVehicles
        self.systemTime = systemTime
        self.synchronizedTime = synchronizedTime
        var snapshot = Snapshot()
        if systemTime != nil { snapshot.conditions.start(at: clock.now) }
        state = Locked(snapshot)
    }

    package var snapshot: Snapshot { state.withLock { $0 } }

    /// The time since the agent started.
    package var uptime: Duration { clock.now }

    /// Records that a condition has occurred. It stays active until `clear` is called or, if `life` isn't `nil`, until
    /// that time has passed.
    package func raise(_ condition: Condition, on topic: ActiveConditions.Topic, for life: Duration? = nil) {
        changeState { state, now in
            state.conditions.raise(condition, on: topic, at: now, until: life.map { now + $0 })
        }
    }

    /// Records that a condition is still active, without counting it as another occurrence.
    package func hold(_ condition: Condition, on topic: ActiveConditions.Topic) {
        changeState { state, now in state.conditions.refresh(condition, on: topic, at: now) }
    }

    /// Records that a condition is no longer active.
    package func clear(_ topic: ActiveConditions.Topic) {
        changeState { state, now in state.conditions.clear(topic, at: now) }
    }

    /// Counts a bypass of the outbox, which exceeded its time limit.
    package func countStoreBypass() { state.withLock { $0.storeBypasses += 1 } }

    /// Counts token requests, and records the provider's warnings and the results of token renewals.
    package func note(_ event: TokenEvent) {
        switch event {
        case .providerAsked: state.withLock { $0.counts.tokenFetches += 1 }
        case .renewal(let renewal, _): note(renewal)
        case .warnings(let warnings):
            changeState { state, now in
                let topic = ActiveConditions.Topic.code(.tokenSupplyAtRisk)
                state.token.warnedAt = now
                guard !warnings.isEmpty else { return state.conditions.clear(topic, at: now) }
                state.conditions.raise(Condition(warnings), on: topic, at: now)
            }
        case .providerAnswered: break
        }
    }

    private func note(_ renewal: TokenRenewal) {
        changeState { state, now in
            switch renewal {
            case .working(let remaining):
                state.token.usedUntil = now + remaining
                state.conditions.clear(.renewal, at: now)
                // If the warning still applied after ten minutes, this token would have repeated it.
                if let warnedAt = state.token.warnedAt, now - warnedAt >= TokenCache.reminderInterval {
                    state.conditions.clear(.code(.tokenSupplyAtRisk), at: now)
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

    /// Records the number of updates in quarantine.
    package func note(quarantined count: Int64) {
        changeState { state, now in
            let topic = ActiveConditions.Topic.code(.updatesQuarantined)
            if count == 0 {
                state.conditions.clear(topic, at: now)
            } else {
                state.conditions.refresh(Condition(quarantined: count), on: topic, at: now)
            }
        }
    }

    /// Records how full the outbox is.
    package func note(_ extent: StoreExtent) {
        changeState { state, now in
            let topic = ActiveConditions.Topic.code(.outboxNearlyFull)
            let share = extent.usedBytes * 100 / max(1, extent.maximumBytes)
            // The condition begins at 80 % but ends below 75 %, so that it doesn't flap.
            let limit = state.conditions.active(on: topic) == nil ? 80 : 75
            guard share >= limit else { return state.conditions.clear(topic, at: now) }
            let condition = Condition(outboxFilledTo: share, ofBytes: extent.maximumBytes)
            state.conditions.refresh(condition, on: topic, at: now)
        }
    }

    /// Records the file from which the configuration was read.
    package func note(loadedFrom file: String) { state.withLock { $0.configuration.file = file } }

    /// Records that the current configuration was read at `time`.
    package func note(loadedAt time: UTCTime) {
        changeState { state, now in
            state.configuration.loadedAt = time
            state.conditions.clear(.code(.reloadRejected), at: now)
        }
    }

    /// Records that a reload was rejected because of `problems`.
    package func note(rejectedReload problems: [ConfigurationProblem]) {
        let causes = problems.map { ReportedText($0.sentence, limit: ReportedText.maximumSentenceLength) }
        changeState { state, now in
            let condition = Condition(
                rejectedReload: causes.first ?? "", and: Array(causes.dropFirst()), at: now)
            state.conditions.raise(condition, on: .code(.reloadRejected), at: now)
        }
    }

    package func observe(_ event: ReportingEvent) {
        let system = systemTime?()
        changeState { state, now in
            state.counts.count(event)
            state.conditions.record(event, at: now, isLive: system != nil)
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
                if let system {
                    state.compare(fix, withSystemTime: system, synchronizedTime: synchronizedTime(), at: now)
                }
            case .serverTime(let time):
                state.clocks.serverTime = (time, now)
                if let system { state.compare(serverTime: time, with: system, at: now) }
            case .uploading: state.delivery.nextAttempt = nil
            case .delivered(let batch, _, _): state.noteDelivery(of: batch, at: now)
            case .failed(let outcome, _, _):
                if case .prepareAgain = outcome, let condition = Condition(outcome) {
                    state.token.lastRejection = (condition.code, now)
                }
            case .notPrepared(let fault):
                if case .noPermit(let missing) = fault, missing.cause.isRejection {
                    state.token.lastRejection = (Condition(missing).code, now)
                }
            case .waiting(let delay): state.delivery.nextAttempt = now + delay
            case .rejected(_, let rejection): state.receiver.lastRejection = rejection
            case .announced: state.delivery.nextAttempt = nil
            case .accepted, .notStored, .dropped, .outboxFailed, .tooSoon, .quarantined, .idle, .internalError: break
            }
        }
    }

    private func changeState(_ body: (inout Snapshot, Duration) -> Void) {
        let now = clock.now
        let lines = state.withLock { state in
            body(&state, now)
            return state.conditions.takeLines(at: now)
        }
        guard let log else { return }
        // With many vehicles, a line about private mode is useless, because it doesn't name the vehicle.
        for line in lines where line.code != .privateMode || !servesManyVehicles { log.write(line) }
    }
}

extension AgentMonitor.Snapshot {
    /// The maximum tolerated offset of the host's clock. It allows for a slow serial port or a slow response.
    private static let clockTolerance = Duration.seconds(30)
    /// The maximum tolerated time by which a fix is ahead of the current time. It allows for clocks with whole seconds
    /// and a slow response.
    private static let maximumLead = Duration.seconds(60)
    /// The maximum tolerated age of a fix. It allows for a slow serial port, and for a receiver that is waking up.
    private static let maximumLag = Duration.seconds(3600)

    /// The reason why the receiver's output contained no usable fix; `nil` if a fix was accepted or withheld, or if the
    /// reason isn't known.
    package var reasonForNoFix: String? {
        guard receiver.lastFixAt == nil else { return nil }
        if let rejection = receiver.lastRejection {
            let rejected = counts.fixesRead.counted("fix", plural: "fixes")
            return "\(rejected) rejected; the last one because \(Condition(rejection).cause)"
        }
        return receiver.obstacle.map { "\(Condition($0).line)" }
    }

    fileprivate mutating func noteDelivery(of batch: UploadBatch, at now: Duration) {
        if batch.lastIsPending, let present = receiver.present(at: now) {
            delivery.delays.add(batch.last.timeOfFix.duration(to: present))
        }
        delivery.lastDelivered = (batch.last.timeOfFix, now)
    }

    /// Compares the time of a fix with the current time. If neither Fleet Engine nor a synchronised clock provides the
    /// current time, compares the host's clock with the fix instead.
    fileprivate mutating func compare(
        _ fix: Fix, withSystemTime system: UTCTime, synchronizedTime: UTCTime?, at now: Duration
    ) {
        clocks.compare(fix.timeOfFix, isFromServer: false, with: system, at: now)
        guard let present = clocks.serverTime(at: now) ?? synchronizedTime else {
            return checkClock(offset: fix.timeOfFix.duration(to: system), from: .receiver, at: now)
        }
        let lag = fix.timeOfFix.duration(to: present)
        guard lag > Self.maximumLag || lag < .zero - Self.maximumLead else {
            return conditions.clear(.code(.receiverTimeWrong), at: now)
        }
        conditions.refresh(Condition(receiverLag: lag), on: .code(.receiverTimeWrong), at: now)
    }

    fileprivate mutating func compare(serverTime time: UTCTime, with system: UTCTime, at now: Duration) {
        clocks.compare(time, isFromServer: true, with: system, at: now)
        checkClock(offset: time.duration(to: system), from: .fleetEngine, at: now)
    }

    private mutating func checkClock(offset: Duration, from other: Condition.ClockSource, at now: Duration) {
        guard offset > Self.clockTolerance || offset < .zero - Self.clockTolerance else {
            return conditions.clear(.code(.hostClockWrong), at: now)
        }
        conditions.refresh(Condition(hostClockOffset: offset, from: other), on: .code(.hostClockWrong), at: now)
    }
}

/// The numbers of events since the agent started, for summaries, status and metrics.
package struct DeliveryCounts: Sendable, Hashable {
    package var fixes = 0
    /// The number of fixes that private mode has withheld.
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
    /// The number of updates that were lost before they could be stored, because the memory for them was full.
    package var dropped = 0

    package init() {}

    /// The number of all fixes from the receiver, including withheld and rejected ones.
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

/// The delivery delays of live positions since the start. A delay lasts from the arrival of a fix to Fleet Engine's
/// acknowledgement. Backlogs and shape points aren't counted. They wait before they are sent, and would outnumber the
/// live positions.
package struct DeliveryDelays: Sendable, Hashable, Codable {
    /// The upper bounds of the delays in `counts`, in seconds. The last element of `counts` has no bound. The bounds
    /// range from delays that a passenger notices on a map to a night without a network.
    package static let bounds = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400]

    /// The numbers of deliveries by delay. Each element counts the delays that are greater than the previous bound and
    /// not greater than its own bound. The last element counts all greater delays.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    package private(set) var sumMilliseconds: Int64 = 0

    package init() {}

    /// Counts a delay. A delay is negative if a clock was set back meanwhile; it is then counted as zero.
    package mutating func add(_ delay: Duration) {
        let delay = max(.zero, delay)
        counts[Self.bounds.firstIndex { delay <= .seconds($0) } ?? Self.bounds.count] += 1
        sumMilliseconds += Int64(delay / .milliseconds(1))
    }
}
