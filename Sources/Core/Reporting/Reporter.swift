package import TimeAndRandomness

/// A function that returns whether the vehicle's private switch is on.
package typealias PrivateSwitch = @Sendable () async -> Bool

/// The reporter of one vehicle. It accepts fixes, stores updates in the outbox, and delivers them newest first.
///
/// `ReportingState` makes every decision and receives each event immediately, from any task. The task that delivers a
/// fix also carries out the append to the outbox that results from it. One loop carries out the actions of the delivery
/// lane.
package actor Reporter {
    private let outbox: any Outbox
    private let delivery: any Delivery
    /// The vehicle's private switch; `nil` if it has none.
    private let privateSwitch: PrivateSwitch?
    private let latestTime: @Sendable () -> UTCTime?
    private let clock: MonotonicClock
    private let jitter: @Sendable () -> Double
    private let observer: any ReportingObserver

    private var state: ReportingState
    /// The next append to the outbox, to be carried out by the task that delivered the fix; `nil` if there is none.
    private var nextAppend: ReportingState.Append?
    /// The next action of the delivery loop; `nil` if there is none. There is at most one, because each action follows
    /// from the result of the previous one or from the end of a wait.
    private var action: UploadAction?
    /// The permit for the next upload; `nil` until one has been obtained.
    private var permit: (any DeliveryPermit)?
    /// The continuation that wakes the delivery loop when there is an action, or when a timer must be started or has
    /// ended; `nil` while the loop doesn't wait.
    private var changeListener: AsyncStream<Never>.Continuation?
    /// The times at which the sleeps in progress end. Another sleep starts only if it must end before all of these.
    /// Sleeps aren't cancelled, because Swift keeps the timer of a cancelled sleep until it would have ended.
    private var timerEnds: [Duration] = []

    /// - Parameters:
    ///   - settings: the vehicle's settings.
    ///   - outbox: the store that keeps updates until they are delivered.
    ///   - delivery: the service to deliver to.
    ///   - privateSwitch: the vehicle's private switch; `nil` if it has none.
    ///   - latestTime: a function that returns the maximum time that a fix can have; `nil` while the current time is
    ///     unknown.
    ///   - clock: the clock that measures every wait.
    ///   - jitter: a function that returns a random number in 0...1.
    ///   - observer: the observer, which receives every event.
    package init(
        _ settings: ReportingSettings, outbox: any Outbox, delivery: any Delivery,
        privateSwitch: PrivateSwitch? = nil, latestTime: @escaping @Sendable () -> UTCTime? = { nil },
        clock: MonotonicClock, jitter: @escaping @Sendable () -> Double, observer: any ReportingObserver
    ) {
        self.outbox = outbox
        self.delivery = delivery
        self.privateSwitch = privateSwitch
        self.latestTime = latestTime
        self.clock = clock
        self.jitter = jitter
        self.observer = observer
        state = ReportingState(settings, hasPresence: delivery.hasPresence, at: clock.now)
    }

    /// Reports the fixes of `source` until it has ended and everything is delivered, or until cancelled.
    ///
    /// - Throws: the fault of a recorded log, once all updates accepted before the fault have been delivered.
    package func run(_ source: any FixSource) async throws(FixSourceError) {
        async let delivering: Void = deliver()
        var failure: FixSourceError?
        do throws(FixSourceError) { try await source.run { await self.process($0) } } catch { failure = error }
        finishWhenEmpty()
        await delivering
        if let failure, failure.code != .cancelled { throw failure }
    }

    // Inlining the functions that the delivery loop calls would add 3 KB to its frame, which lives for the whole run.
    @inline(never) private func handle(_ event: ReportingState.Event) {
        let step = state.handle(event, at: clock.now, jitter: jitter())
        for report in step.reports { observer.observe(report) }
        if let append = step.append { nextAppend = append }
        if let delivery = step.delivery { action = delivery }
        if action != nil || nextTimerEnd != nil { changeListener?.finish() }
    }

    /// Handles an event of the delivery lane. The tests' simulation also calls this, to inject bugs.
    package func receive(_ event: UploadEvent) { handle(.upload(event)) }
}

/// The taking lane, which turns fixes into stored updates.
extension Reporter {
    /// Handles an event from a source. If it results in an update, returns once the update is stored or kept in memory.
    package func process(_ event: FixSourceEvent) async {
        switch event {
        case .state(let state): observer.observe(.receiver(state))
        case .warning(let warning): observer.observe(.receiverWarning(warning))
        case .sky(let sky): observer.observe(.sky(sky))
        case .progress(let reached, let length): observer.observe(.progress(reached: reached, of: length))
        case .fix(let fix):
            if privateSwitch != nil { await readPrivateSwitch() }
            handle(.fix(fix, latest: latestTime()))
            await carryOutAppends()
        }
    }

    /// Reads the private switch. The caller must call this even if no fixes arrive, because a private vehicle's
    /// position must not be repeated.
    ///
    /// - Parameter isPolled: whether the caller reads the switch every second, with or without fixes.
    package func readPrivateSwitch(isPolled: Bool = false) async {
        let isOn = await privateSwitch?() ?? false
        handle(.switchRead(isOn: isOn, exists: privateSwitch != nil, isPolled: isPolled))
    }

    /// Tries again to store updates that the outbox did not accept.
    package func retryStoring() async {
        handle(.storingRetryRequested)
        await carryOutAppends()
    }

    /// The number of updates that are only in memory, apart from those that the outbox is storing now.
    package var unstoredCount: Int { state.queue.count }

    /// Whether the outbox has accepted every update.
    package var hasStoredAll: Bool { state.appendInProgress == nil && state.queue.isEmpty }

    /// Carries out appends until none is left, unless another task is doing so.
    private func carryOutAppends() async {
        while let append = nextAppend {
            nextAppend = nil
            do throws(OutboxError) {
                let appended = try await outbox.append(
                    append.updates.last, with: append.updates.points, overrulingEarlier: append.overrulesEarlier,
                    next: append.next)
                handle(.appended(appended))
            } catch { handle(.appendFailed(error)) }
        }
    }
}

/// The delivery lane, which sends the stored updates.
extension Reporter {
    /// Notifies the delivery lane that quarantined updates are pending again.
    package func notifyOfRequeue() { receive(.requeued) }

    /// Makes `deliver` return once nothing is pending, because a recorded log has ended.
    package func finishWhenEmpty() { receive(.finishWhenEmpty) }

    /// Whether updates report the vehicle's presence. They don't if the service records no presence, or while the
    /// vehicle may be private.
    package var reportsPresence: Bool { delivery.hasPresence && state.uploadState.presence != .unknown }

    /// Notifies the reporter that the network has returned. Work that waits for the network continues at once, on a new
    /// connection.
    package func networkReturned() async {
        // The state must be notified first. Notifying the delivery may end the exchange in progress, and the state must
        // know that the network is to blame for this failure.
        receive(.willNotifyOfNetworkReturn)
        await delivery.networkReturned()
        receive(.networkReturned)
    }

    /// Delivers updates until cancelled or, after `finishWhenEmpty`, until nothing is pending.
    package func deliver() async {
        receive(.started)
        await withDiscardingTaskGroup { timers in
            loop: while let current = action {
                action = nil
                switch current {
                case .finish: break loop
                case .restart: receive(.started)
                case .send(let batch, let seconds):
                    await awaitChange(sending: (batch, seconds), &timers)
                case .wait, .abortExchange: await awaitChange(sending: nil, &timers)
                default:
                    let event = await perform(current)
                    if Task.isCancelled { receive(.cancelled) }
                    receive(event)
                }
            }
            timers.cancelAll()
        }
    }

    /// Sends a batch, if there is one, and waits until there is another action.
    @inline(never) private func awaitChange(
        sending upload: (batch: UploadBatch, secondsSinceFirstSent: Int?)?, _ timers: inout DiscardingTaskGroup
    ) async {
        await withTaskGroup(of: UploadEvent.self) { group in
            if let upload {
                guard let permit else { return receive(.prepared) }  // an internal error
                self.permit = nil
                let presence = state.uploadState.presence
                group.addTask {
                    .answered(
                        await permit.deliver(
                            upload.batch, as: presence, secondsSinceFirstSent: upload.secondsSinceFirstSent))
                }
            }
            addWait(to: &group, &timers)
            for await event in group {
                if case .restart? = action {
                    group.cancelAll()
                    continue  // the result of the abandoned action is ignored
                }
                if Task.isCancelled { receive(.cancelled) }
                receive(event)
                if action != nil {
                    group.cancelAll()  // cancels the wait, or the exchange, whose result still arrives
                } else if case .timeReached = event, !Task.isCancelled {
                    addWait(to: &group, &timers)
                }
            }
        }
    }

    /// Adds a task to `group` that waits until another task has caused a change, or until `dueAt`.
    @inline(never) private func addWait(
        to group: inout TaskGroup<UploadEvent>, _ timers: inout DiscardingTaskGroup
    ) {
        let (changes, listener) = AsyncStream.makeStream(of: Never.self)
        changeListener = listener
        if action != nil { listener.finish() }
        group.addTask {
            for await _ in changes {}
            return .timeReached
        }
        guard let end = nextTimerEnd else { return }
        timerEnds.append(end)
        timers.addTask {
            await self.clock.sleep(until: end)
            await self.fireTimer(end)
        }
    }

    /// The time at which a sleep must end that hasn't started yet; `nil` if the sleeps in progress are enough.
    private var nextTimerEnd: Duration? {
        state.uploadState.dueAt.flatMap { dueAt in timerEnds.contains { $0 <= dueAt } ? nil : dueAt }
    }

    private func fireTimer(_ moment: Duration) {
        if let index = timerEnds.firstIndex(of: moment) { timerEnds.remove(at: index) }
        changeListener?.finish()
    }

    /// Carries out an action that can't be interrupted, and returns its result.
    @inline(never) private func perform(_ action: UploadAction) async -> UploadEvent {
        switch action {
        case .readOutbox(let request):
            await outboxEvent { () throws(OutboxError) in .outboxRead(try await outbox.nextUpload(for: request)) }
        case .acknowledge(let batch, let request):
            await outboxEvent { () throws(OutboxError) in
                .resultRecorded(try await outbox.acknowledge(batch, next: request))
            }
        case .quarantine(let update, let reason):
            await outboxEvent { () throws(OutboxError) in
                try await outbox.quarantine(update, reason: reason)
                observer.observe(.quarantined(update, reason: reason))
                return .resultRecorded(nil)
            }
        case .prepare: await obtainPermit()
        case .announce(let presence): await performAnnouncement(of: presence)
        case .send, .wait, .abortExchange, .restart, .finish: .timeReached
        }
    }

    private func outboxEvent(_ body: () async throws(OutboxError) -> UploadEvent) async -> UploadEvent {
        do throws(OutboxError) { return try await body() } catch { return .outboxFailed(error) }
    }

    private func obtainPermit() async -> UploadEvent {
        do throws(DeliveryFault) { permit = try await delivery.prepare() } catch { return .notPrepared(error) }
        return .prepared
    }

    private func performAnnouncement(of presence: Presence) async -> UploadEvent {
        do throws(DeliveryFault) {
            let result = try await announce(presence: presence)
            if case .unanswered? = result.outcome.fault, !Task.isCancelled {
                observer.observe(.failed(result.outcome, traffic: result.traffic))
            }
            return .announced(result.outcome)
        } catch { return .notPrepared(error) }
    }
}

/// Reports of the vehicle's presence without a position, such as at shutdown.
extension Reporter {
    /// Reports the vehicle's presence without a position, and returns the result. Retries once if the first permit is
    /// rejected. The observer receives every answer.
    ///
    /// - Throws: the reason why no permit could be obtained.
    @discardableResult
    package func announce(presence: Presence) async throws(DeliveryFault) -> DeliveryResult {
        let result = try await announceOnce(presence)
        if case .prepareAgain = result.outcome { return try await announceOnce(presence) }
        return result
    }

    private func announceOnce(_ presence: Presence) async throws(DeliveryFault) -> DeliveryResult {
        let result = try await delivery.announce(presence)
        switch result.outcome.fault {
        case nil: observer.observe(.announced(presence, traffic: result.traffic))
        case .unanswered?: break
        case .some: observer.observe(.failed(result.outcome, traffic: result.traffic))
        }
        return result
    }
}
