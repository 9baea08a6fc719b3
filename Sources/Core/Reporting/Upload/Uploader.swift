package import FleetEngine
package import HTTPMessages
import ReportedText
import TimeAndChance
package import VehicleAuthorization

/// Sends what the outbox holds, newest position first, until everything is delivered; then waits for more.
///
/// At every upload the provider is asked for a token, and token and update are packed together. What is done, and when,
/// is decided by `UploadState`: every event goes into it at once, from whatever task; one loop carries the actions out.
package actor Uploader {
    private let settings: UploadSettings
    private let outbox: any Outbox
    private let authorization: any VehicleAuthorization
    private let transport: any HTTPTransport
    private let clock: MonotonicClock
    private let jitter: @Sendable () -> Double
    private let observer: any ReportingObserver

    private var state: UploadState
    /// Whose place this one takes, until it runs: where that has ended, this one goes on.
    private var former: Uploader?
    /// What the loop does next. There is never a second: only the end of an action, or of a wait, leads to another.
    private var action: UploadAction?
    /// Ends the loop's wait for a change of these two.
    private var changeListener: AsyncStream<Never>.Continuation?
    /// When the sleeps in progress end. Only a time before all of them needs a sleep of its own: Swift keeps the timer
    /// of one that is cancelled until its time.
    private var alarmTimes: [Duration] = []

    /// `jitter` draws from 0...1. `mayBePrivate`: whether the vehicle is private, its first fix says.
    package init(
        settings: UploadSettings, outbox: any Outbox, authorization: any VehicleAuthorization,
        transport: any HTTPTransport, clock: MonotonicClock, jitter: @escaping @Sendable () -> Double,
        observer: any ReportingObserver, mayBePrivate: Bool = false
    ) {
        (self.settings, self.outbox, self.authorization) = (settings, outbox, authorization)
        (self.transport, self.clock, self.jitter, self.observer) = (transport, clock, jitter, observer)
        state = UploadState(settings, privacy: mayBePrivate ? .unknown : .open, at: clock.now)
    }

    /// Goes on where `former`, which has the same clock, ends, once this one runs; to be called before this one is told
    /// anything.
    func takePlace(of former: Uploader) {
        self.former = former
        state = UploadState(settings, privacy: .asBefore, at: clock.now)
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
    func timeSinceSent(_ update: LocationUpdate) async -> Duration? {
        if let elapsed = state.timeSinceSent(update, at: clock.now) { return elapsed }
        return await former?.timeSinceSent(update)
    }

    /// Tells that nothing of where the vehicle is may go out from now on, but for what waits from before.
    func privateModeBegan() { take(.privateModeBegan) }

    /// `mayBePrivate`: the vehicle may be in a private zone all the same, which its next fix says.
    func privateModeEnded(mayBePrivate: Bool) { take(.privateModeEnded(mayBePrivate: mayBePrivate)) }

    /// Tells that the vehicle has other private zones, or none any more.
    func privateZonesChanged(areThere: Bool) async {
        await former?.privateZonesChanged(areThere: areThere)
        take(.privateZonesChanged(areThere: areThere))
    }

    /// Whether updates say the vehicle's state: not while nobody knows whether it is private.
    package var tellsState: Bool { state.vehicleState != nil }

    /// Lets `run` end once nothing is pending: a recorded log has come to its end.
    package func finishWhenEmpty() { take(.finishWhenEmpty) }

    /// Reports that the network has returned: whatever waits for that continues at once, on a new connection.
    package func networkReturned() async {
        await authorization.networkReturned()
        // Before the transport hears of it: an exchange that fails by that is judged as of the network that is gone.
        take(.networkReturned)
        transport.networkChanged()
    }

    /// Uploads until cancelled, or until empty after `finishWhenEmpty`; begins when the one before has ended.
    package func run() async {
        await succeedFormer()
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

    private func succeedFormer() async {
        guard let former else { return }
        // One that was replaced before it ran has one before it, too.
        await former.succeedFormer()
        state.succeed(await former.state)
        self.former = nil
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
        case .fetchToken: group.addTask { await self.fetchToken() }
        case .send(let batch, let token, let seconds):
            let vehicleState = state.vehicleState
            group.addTask { await self.send(batch, token, as: vehicleState, secondsSinceFirstSent: seconds) }
            waitForChange(in: &group, &alarms)
        case .acknowledge(let batch):
            group.addTask { [outbox] in
                await Self.told { () throws(OutboxError) in try await outbox.acknowledge(batch) }
            }
        case .quarantine(let update, let reason):
            group.addTask { [outbox, observer] in
                await Self.told { () throws(OutboxError) in
                    try await outbox.quarantine(update, reason: reason)
                    observer.observe(.quarantined(update, reason: reason))
                }
            }
        case .discardToken(let token):
            group.addTask { [authorization, context] in
                await authorization.discard(token, for: context)
                return .told
            }
        case .tell(let state): group.addTask { await self.tell(state) }
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

    private static func told(_ body: () async throws(OutboxError) -> Void) async -> UploadEvent {
        do throws(OutboxError) { try await body() } catch { return .outboxFailed(error) }
        return .told
    }

    private func fetchToken() async -> UploadEvent {
        do { return .tokenReceived(try await authorization.token(for: context)) } catch { return .noToken(error) }
    }

    private func send(
        _ batch: UploadBatch, _ token: AuthorizationToken, as vehicleState: VehicleState?, secondsSinceFirstSent: Int?
    ) async -> UploadEvent {
        let update = VehicleUpdate(
            of: settings.vehicle, state: vehicleState,
            lastLocation: VehicleLocation(batch.last, secondsSinceFirstSent: secondsSinceFirstSent),
            pastLocations: batch.past.map { VehicleLocation($0.update) })
        do {
            let (outcome, response) = try await exchange(update, token)
            if outcome == .delivered, let date = response.headers["Date"].flatMap(UTCTime.init(httpDate:)) {
                observer.observe(.serverTime(date))
            }
            return .answered(outcome, traffic: response.traffic)
        } catch let error as HTTPTransportError {
            return .unanswered(error)
        } catch {
            return .answered(.hold(reason: "\(settings.endpoint): \(error)"), traffic: HTTPTraffic())
        }
    }

    private func tell(_ state: VehicleState) async -> UploadEvent {
        do {
            return .stateTold(try await send(state: state))
        } catch let error as AuthorizationError {
            return .noToken(error)
        } catch let error as HTTPTransportError {
            let outcome = UploadOutcome(of: error)
            if !Task.isCancelled { observer.observe(.failed(outcome, traffic: error.traffic)) }
            return .stateTold(outcome)
        } catch {
            return .stateTold(.hold(reason: "\(settings.endpoint): \(error)"))
        }
    }

    private func exchange(
        _ update: VehicleUpdate, _ token: AuthorizationToken
    ) async throws -> (UploadOutcome, HTTPResponse) {
        let request = try update.request(to: settings.endpoint, token: token.value, limits: settings.limits)
        let response = try await transport.send(request)
        return (UploadOutcome(of: response, to: request, for: settings.vehicle), response)
    }

    private var context: AuthorizationContext { AuthorizationContext(vehicleID: settings.vehicle.vehicleID) }
}

/// The vehicle's state by itself, as on stop.
extension Uploader {
    /// Sends the vehicle's state without a position, once more with a new token if the first is rejected, and reports
    /// what became of it.
    ///
    /// - Throws: when there is no token or no answer.
    package func send(state: VehicleState) async throws -> UploadOutcome {
        let outcome = try await attempt(state)
        if case .tokenRefused = outcome { return try await attempt(state) }
        return outcome
    }

    private func attempt(_ state: VehicleState) async throws -> UploadOutcome {
        let token = try await authorization.token(for: context)
        let (outcome, response) = try await exchange(VehicleUpdate(of: settings.vehicle, state: state), token)
        let traffic = response.traffic
        observer.observe(
            outcome == .delivered ? .stateSent(state, traffic: traffic) : .failed(outcome, traffic: traffic))
        if case .tokenRefused = outcome { await authorization.discard(token, for: context) }
        return outcome
    }
}
