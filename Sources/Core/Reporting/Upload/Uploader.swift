/// Sends what the outbox holds, newest position first, until everything is delivered; then waits for more.
///
/// Every upload is prepared and then delivered by its permit. What is done, and when, is decided by `UploadState`:
/// every event goes into it at once, from whatever task; one loop carries the actions out.
package actor Uploader {
    private let settings: UploadSettings
    private let outbox: any Outbox
    private let delivery: any Delivery
    private let clock: MonotonicClock
    private let jitter: @Sendable () -> Double
    private let observer: any ReportingObserver

    private var state: UploadState
    /// What the next upload is delivered with.
    private var permit: (any DeliveryPermit)?
    /// What the loop does next. There is never a second: only the end of an action, or of a wait, leads to another.
    private var action: UploadAction?
    /// Ends the loop's wait for a change of these two.
    private var changeListener: AsyncStream<Never>.Continuation?
    /// When the sleeps in progress end. Only a time before all of them needs a sleep of its own: Swift keeps the timer
    /// of one that is cancelled until its time.
    private var alarmTimes: [Duration] = []

    /// `jitter` draws from 0...1. `mayBePrivate`: whether the vehicle is private, its first fix says.
    package init(
        settings: UploadSettings, outbox: any Outbox, delivery: any Delivery, clock: MonotonicClock,
        jitter: @escaping @Sendable () -> Double, observer: any ReportingObserver, mayBePrivate: Bool = false
    ) {
        self.settings = settings
        self.outbox = outbox
        self.delivery = delivery
        self.clock = clock
        self.jitter = jitter
        self.observer = observer
        state = UploadState(
            settings, hasPresence: delivery.hasPresence, privacy: mayBePrivate ? .unknown : .open, at: clock.now)
    }

    /// Tells that the outbox has a new update; `batch`: with its shape points, where that is all that is new.
    package func wake(for batch: UploadBatch? = nil) { take(.accepted(batch)) }

    /// Tells that what was quarantined is pending again.
    package func wakeAfterRequeue() { take(.requeued) }

    /// Notes that the outbox has accepted updates that it did not accept at their time.
    func storedEarlier() { take(.requeued) }

    /// Takes the newest position although the outbox cannot: it is sent from memory while it is the newest.
    ///
    /// `overrulingStored` when what the outbox holds was wrong and it could not be told so.
    func offer(unstored update: LocationUpdate, overrulingStored: Bool) {
        take(.offered(update, overrulingStored: overrulingStored))
    }

    /// Tells that the positions in memory were wrong, or that the outbox knows better now: none of them is to lead any
    /// more.
    func forgetUnstored() { take(.forgetUnstored) }

    /// How long ago the request with `update` in front began; `nil` when there is none that counts.
    func timeSinceSent(_ update: LocationUpdate) -> Duration? { state.timeSinceSent(update, at: clock.now) }

    /// Tells that nothing of where the vehicle is may go out from now on, but for what waits from before.
    func privateModeBegan() { take(.privateModeBegan) }

    /// `mayBePrivate`: the vehicle may be in a private zone all the same, which its next fix says.
    func privateModeEnded(mayBePrivate: Bool) { take(.privateModeEnded(mayBePrivate: mayBePrivate)) }

    /// Whether updates report the vehicle's presence: not while it isn't known whether it is private.
    package var reportsPresence: Bool { delivery.hasPresence && state.presence != .unknown }

    /// Lets `run` end once nothing is pending: a recorded log has come to its end.
    package func finishWhenEmpty() { take(.finishWhenEmpty) }

    /// Reports that the network has returned: whatever waits for that continues at once, on a new connection.
    package func networkReturned() async {
        // First: an exchange that fails because of what follows is judged as one of the network that is gone.
        take(.networkReturning)
        await delivery.networkReturned()
        take(.networkReturned)
    }

    /// Uploads until cancelled, or until empty after `finishWhenEmpty`.
    package func run() async {
        take(.started)
        await withDiscardingTaskGroup { alarms in
            while let current = action {
                if case .finish = current { break }
                action = nil
                await withTaskGroup(of: UploadEvent.self) { group in
                    begin(current, in: &group, &alarms)
                    for await event in group {
                        if Task.isCancelled { take(.cancelled) }
                        take(event)
                        if action != nil {
                            group.cancelAll()  // the wait beside an action; or an exchange, whose end still comes
                        } else if case .timeReached = event, !Task.isCancelled {
                            waitForChange(in: &group, &alarms)
                        }
                    }
                }
            }
            alarms.cancelAll()
        }
    }

    // Inlined, these three would make the frame of `run`, which lasts as long as a drive does, 15 KB in place of 12.
    @inline(never) private func take(_ event: UploadEvent) {
        let step = state.handle(event, at: clock.now, jitter: jitter())
        for report in step.reports { observer.observe(report) }
        if let next = step.action { action = next }
        changeListener?.finish()
    }

    /// Waits until an event has come from elsewhere, or a time is reached.
    @inline(never) private func waitForChange(
        in group: inout TaskGroup<UploadEvent>, _ alarms: inout DiscardingTaskGroup
    ) {
        let (changes, listener) = AsyncStream.makeStream(of: Never.self)
        changeListener = listener
        if action != nil { listener.finish() }
        group.addTask {
            for await _ in changes {}
            return .timeReached
        }
        guard let dueAt = state.dueAt, !alarmTimes.contains(where: { $0 <= dueAt }) else { return }
        alarmTimes.append(dueAt)
        alarms.addTask {
            await self.clock.sleep(until: dueAt)
            await self.ring(dueAt)
        }
    }

    private func ring(_ moment: Duration) {
        if let index = alarmTimes.firstIndex(of: moment) { alarmTimes.remove(at: index) }
        changeListener?.finish()
    }
}

/// The actions, each with the event that it ends with.
extension Uploader {
    @inline(never) private func begin(
        _ action: UploadAction, in group: inout TaskGroup<UploadEvent>, _ alarms: inout DiscardingTaskGroup
    ) {
        switch action {
        case .readOutbox(let limit, let withBacklog, let orNewest):
            group.addTask { await self.readOutbox(limit, withBacklog: withBacklog, orNewest: orNewest) }
        case .prepare: group.addTask { await self.prepare() }
        case .send(let batch, let seconds):
            guard let permit else { preconditionFailure("an upload without a permit") }
            self.permit = nil
            let presence = state.presence
            group.addTask {
                .answered(await permit.deliver(batch, as: presence, secondsSinceFirstSent: seconds))
            }
            waitForChange(in: &group, &alarms)
        case .acknowledge(let batch):
            group.addTask { [outbox] in
                await Self.noted { () throws(OutboxError) in try await outbox.acknowledge(batch) }
            }
        case .quarantine(let update, let reason):
            group.addTask { [outbox, observer] in
                await Self.noted { () throws(OutboxError) in
                    try await outbox.quarantine(update, reason: reason)
                    observer.observe(.quarantined(update, reason: reason))
                }
            }
        case .announce(let presence): group.addTask { await self.announce(presence) }
        case .wait: waitForChange(in: &group, &alarms)
        case .abortExchange, .finish: break
        }
    }

    private func readOutbox(_ limit: Int, withBacklog: Bool, orNewest: Bool) async -> UploadEvent {
        do throws(OutboxError) {
            let batch = try await outbox.nextBatch(maximumPastLocations: limit, withBacklog: withBacklog)
            return .outboxRead(batch, newest: batch == nil && orNewest ? try await outbox.newest() : nil)
        } catch { return .outboxFailed(error) }
    }

    private static func noted(_ body: () async throws(OutboxError) -> Void) async -> UploadEvent {
        do throws(OutboxError) { try await body() } catch { return .outboxFailed(error) }
        return .noted
    }

    private func prepare() async -> UploadEvent {
        do throws(DeliveryFault) { permit = try await delivery.prepare() } catch { return .notPrepared(error) }
        return .prepared
    }

    private func announce(_ presence: Presence) async -> UploadEvent {
        do throws(DeliveryFault) {
            let result = try await announce(presence: presence)
            if case .unanswered? = result.outcome.fault, !Task.isCancelled {
                observer.observe(.failed(result.outcome, traffic: result.traffic))
            }
            return .announced(result.outcome)
        } catch { return .notPrepared(error) }
    }
}

/// The vehicle's presence by itself, as on stop.
extension Uploader {
    /// Reports the vehicle's presence without a position, once more if the first permit is rejected. The observer
    /// receives every answer.
    ///
    /// - Throws: the reason if there is no permit.
    @discardableResult
    package func announce(presence: Presence) async throws(DeliveryFault) -> DeliveryResult {
        let result = try await attempt(presence)
        if case .prepareAgain = result.outcome { return try await attempt(presence) }
        return result
    }

    private func attempt(_ presence: Presence) async throws(DeliveryFault) -> DeliveryResult {
        let result = try await delivery.announce(presence)
        switch result.outcome.fault {
        case nil: observer.observe(.announced(presence, traffic: result.traffic))
        case .unanswered?: break
        case .some: observer.observe(.failed(result.outcome, traffic: result.traffic))
        }
        return result
    }
}
