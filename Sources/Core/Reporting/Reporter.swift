package import TimeAndChance

/// Whether the switch by which a vehicle is private is on at this moment.
package typealias PrivateSwitch = @Sendable () async -> Bool

/// Reports one vehicle: takes fixes, has the outbox store updates, delivers them newest first, and waits for more.
///
/// What is done, and when, is decided by `ReportingState`: every event goes into it at once, from whatever task. The
/// task that brings a fix carries out the append that follows; one loop carries out the actions of delivery.
package actor Reporter {
    private let outbox: any Outbox
    private let delivery: any Delivery
    /// `nil` if there is none.
    private let privateSwitch: PrivateSwitch?
    private let latestTime: @Sendable () -> UTCTime?
    private let clock: MonotonicClock
    private let jitter: @Sendable () -> Double
    private let observer: any ReportingObserver

    private var state: ReportingState
    /// The append that the taking task carries out next.
    private var append: ReportingState.Append?
    /// What the delivering loop does next. There is never a second: only the end of an action, or of a wait, leads to
    /// another.
    private var action: UploadAction?
    /// The permit for the next upload.
    private var permit: (any DeliveryPermit)?
    /// Ends the loop's wait for a change of `action` or of the time that it waits for.
    private var changeListener: AsyncStream<Never>.Continuation?
    /// When the sleeps in progress end. Only a time before all of them needs a sleep of its own: Swift keeps the timer
    /// of one that is cancelled until its time.
    private var alarmTimes: [Duration] = []

    /// - Parameters:
    ///   - settings: what is reported, and how.
    ///   - outbox: where updates wait.
    ///   - delivery: the service that they are for.
    ///   - privateSwitch: the switch by which the vehicle is private; `nil` if there is none.
    ///   - latestTime: the latest time of fix that can be true; `nil` while nothing trustworthy knows the present.
    ///   - clock: measures every wait.
    ///   - jitter: draws from 0...1.
    ///   - observer: receives what happens.
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

    /// Reports what `source` delivers, until it has ended and everything is delivered, or until cancelled.
    ///
    /// - Throws: what is wrong with a recorded log; what was accepted before it is delivered anyway.
    package func run(_ source: any FixSource) async throws(FixSourceError) {
        async let delivering: Void = deliver()
        var failure: FixSourceError?
        do throws(FixSourceError) { try await source.run { await self.take($0) } } catch { failure = error }
        finishWhenEmpty()
        await delivering
        if let failure, failure.code != .cancelled { throw failure }
    }

    // Inlined, the functions that the loop calls would add 3 KB to its frame, which lasts as long as a drive does.
    @inline(never) private func handle(_ event: ReportingState.Event) {
        let step = state.handle(event, at: clock.now, jitter: jitter())
        for report in step.reports { observer.observe(report) }
        if let append = step.append { self.append = append }
        if let delivery = step.delivery { action = delivery }
        changeListener?.finish()
    }

    /// Handles an event of the delivering lane; the simulation plants its bugs here.
    package func receive(_ event: UploadEvent) { handle(.delivering(event)) }
}

/// Taking.
extension Reporter {
    /// Takes what a source delivers. Returns when an update that is made of it is stored, or kept in memory.
    package func take(_ event: FixSourceEvent) async {
        switch event {
        case .state(let state): observer.observe(.receiver(state))
        case .warning(let warning): observer.observe(.receiverWarning(warning))
        case .sky(let sky): observer.observe(.sky(sky))
        case .progress(let reached, let length): observer.observe(.progress(reached: reached, of: length))
        case .fix(let fix):
            if privateSwitch != nil { await lookAtSwitch() }
            handle(.fix(fix, latest: latestTime()))
            await store()
        }
    }

    /// Looks at the private switch; also while no fix comes, because the last position must not be repeated then.
    ///
    /// `isWatching`: the caller does so each second, whether fixes come or not.
    package func lookAtSwitch(isWatching: Bool = false) async {
        let isOn = await privateSwitch?() ?? false
        handle(.switchSeen(isOn: isOn, isThere: privateSwitch != nil, isWatched: isWatching))
    }

    /// Stores what the outbox did not accept before; also while no fix comes.
    package func storeAgain() async {
        handle(.storeAgain)
        await store()
    }

    /// Whether the outbox has accepted every update.
    package var hasStoredAll: Bool { state.appending == nil && state.queue.isEmpty }

    /// Carries out one append after another, unless another task does.
    private func store() async {
        while let append {
            self.append = nil
            do throws(OutboxError) {
                let appended = try await outbox.append(
                    append.updates.last, with: append.updates.points, overrulingEarlier: append.overrulesEarlier,
                    next: append.next)
                handle(.appended(appended))
            } catch { handle(.appendFailed(error)) }
        }
    }
}

/// Delivering.
extension Reporter {
    /// Notes that what was quarantined is pending again.
    package func requeued() { receive(.requeued) }

    /// Lets `deliver` end once nothing is pending: a recorded log has come to its end.
    package func finishWhenEmpty() { receive(.finishWhenEmpty) }

    /// Whether updates report the vehicle's presence: not while it isn't known whether it is private.
    package var reportsPresence: Bool { delivery.hasPresence && state.delivering.presence != .unknown }

    /// Notes that the network has returned: whatever waits for that continues at once, on a new connection.
    package func networkReturned() async {
        // First: an exchange that fails because of what follows is judged as one of the network that is gone.
        receive(.networkReturning)
        await delivery.networkReturned()
        receive(.networkReturned)
    }

    /// Delivers until cancelled, or until empty after `finishWhenEmpty`.
    package func deliver() async {
        receive(.started)
        await withDiscardingTaskGroup { alarms in
            loop: while let current = action {
                action = nil
                switch current {
                case .finish: break loop
                case .restart: receive(.started)
                case .send(let batch, let seconds):
                    await awaitChange(sending: (batch, seconds), &alarms)
                case .wait, .abortExchange: await awaitChange(sending: nil, &alarms)
                default:
                    let event = await perform(current)
                    if Task.isCancelled { receive(.cancelled) }
                    receive(event)
                }
            }
            alarms.cancelAll()
        }
    }

    /// Waits until the state wants something else; meanwhile sends a batch, if there is one.
    @inline(never) private func awaitChange(
        sending upload: (batch: UploadBatch, secondsSinceFirstSent: Int?)?, _ alarms: inout DiscardingTaskGroup
    ) async {
        await withTaskGroup(of: UploadEvent.self) { group in
            if let upload {
                guard let permit else { return receive(.prepared) }  // an internal error
                self.permit = nil
                let presence = state.delivering.presence
                group.addTask {
                    .answered(
                        await permit.deliver(
                            upload.batch, as: presence, secondsSinceFirstSent: upload.secondsSinceFirstSent))
                }
            }
            waitForChange(in: &group, &alarms)
            for await event in group {
                if case .restart? = action {
                    group.cancelAll()
                    continue  // what was in progress is forgotten
                }
                if Task.isCancelled { receive(.cancelled) }
                receive(event)
                if action != nil {
                    group.cancelAll()  // the wait beside an exchange; or the exchange, whose end still comes
                } else if case .timeReached = event, !Task.isCancelled {
                    waitForChange(in: &group, &alarms)
                }
            }
        }
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
        guard let dueAt = state.delivering.dueAt, !alarmTimes.contains(where: { $0 <= dueAt }) else { return }
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

    /// Carries out an action that nothing else ends; returns the event that it ends with.
    @inline(never) private func perform(_ action: UploadAction) async -> UploadEvent {
        switch action {
        case .readOutbox(let request):
            await noting { () throws(OutboxError) in .outboxRead(try await outbox.next(request)) }
        case .acknowledge(let batch, let request):
            await noting { () throws(OutboxError) in .noted(try await outbox.acknowledge(batch, next: request)) }
        case .quarantine(let update, let reason):
            await noting { () throws(OutboxError) in
                try await outbox.quarantine(update, reason: reason)
                observer.observe(.quarantined(update, reason: reason))
                return .noted(nil)
            }
        case .prepare: await prepare()
        case .announce(let presence): await announce(presence)
        case .send, .wait, .abortExchange, .restart, .finish: .timeReached
        }
    }

    private func noting(_ body: () async throws(OutboxError) -> UploadEvent) async -> UploadEvent {
        do throws(OutboxError) { return try await body() } catch { return .outboxFailed(error) }
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
extension Reporter {
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
