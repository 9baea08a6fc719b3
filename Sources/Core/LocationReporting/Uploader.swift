package import FleetEngine
import GNSS
package import HTTPMessages
package import VehicleAuthorization

/// Sends what the outbox holds, newest position first, until everything is delivered; then waits for more.
///
/// At every upload the provider is asked for a token, and token and update are packed together. What happens after an
/// answer is decided by `UploadDecisions`; what goes out next, by `NextUpload`.
package actor Uploader {
    private let settings: UploadSettings
    private let outbox: any Outbox
    let authorization: any VehicleAuthorization
    let transport: any HTTPTransport
    let clock: MonotonicClock
    let jitter: @Sendable () -> Double
    let observer: any ReportingObserver

    var decisions: UploadDecisions
    private var next: NextUpload
    private var finishesWhenEmpty = false
    /// Hears of the network's return while something waits for it.
    var networkListener: AsyncStream<Void>.Continuation?
    /// Hears of a position in memory while nothing can be had from the outbox.
    var offerListener: AsyncStream<Void>.Continuation?
    private let wakeUps: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation

    /// `jitter`: draws from 0...1.
    package init(
        settings: UploadSettings, outbox: any Outbox, authorization: any VehicleAuthorization,
        transport: any HTTPTransport, clock: MonotonicClock, jitter: @escaping @Sendable () -> Double,
        observer: any ReportingObserver
    ) {
        self.settings = settings
        self.outbox = outbox
        self.authorization = authorization
        self.transport = transport
        self.clock = clock
        self.jitter = jitter
        self.observer = observer
        decisions = UploadDecisions(maximumPastLocations: settings.maximumPastLocations, retry: settings.retry)
        next = NextUpload(heartbeat: settings.heartbeat, at: clock.now)
        (wakeUps, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Tells that the outbox has something new.
    package nonisolated func wake() { wakeUp.yield() }

    /// Takes the newest position although the outbox cannot: it is sent from memory, and lost if the process ends.
    package func offer(unstored update: LocationUpdate) {
        next.offer(unstored: update)
        offerListener?.yield()
        wake()
    }

    /// Lets `run` end once nothing is pending: a recorded log has come to its end.
    package func finishWhenEmpty() {
        finishesWhenEmpty = true
        wake()
    }

    /// Uploads until cancelled, or until empty after `finishWhenEmpty`.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.beat() }
            await self.upload()
            group.cancelAll()
        }
    }

    /// Sends the vehicle's state without a position, once more with a new token if the first is refused, and tells what
    /// became of it.
    ///
    /// - Throws: when there is no token or no answer.
    package func send(state: VehicleState) async throws -> UploadOutcome {
        let outcome = try await attempt(state)
        if case .tokenRefused = outcome { return try await attempt(state) }
        return outcome
    }

    private func attempt(_ state: VehicleState) async throws -> UploadOutcome {
        let token = try await authorization.token(for: context)
        let update = VehicleUpdate(of: settings.vehicle, state: state)
        let request = try update.request(to: settings.endpoint, token: token.value, limits: settings.limits)
        let response = try await transport.send(request)
        let outcome = UploadOutcome(of: response, for: settings.vehicle)
        observer.observe(
            outcome == .delivered
                ? .stateSent(state, traffic: response.traffic) : .failed(outcome, traffic: response.traffic))
        if case .tokenRefused = outcome { await authorization.discard(token, for: context) }
        return outcome
    }

    private var context: AuthorizationContext { AuthorizationContext(vehicleID: settings.vehicle.vehicleID) }

    /// Wakes the upload loop whenever a repetition may be due.
    private func beat() async {
        while !Task.isCancelled {
            let wait = next.timeToHeartbeat(at: clock.now)
            if wait == .zero { wake() }
            await clock.sleep(for: max(wait, .seconds(1)))
        }
    }

    private func upload() async {
        var wakeUps = wakeUps.makeAsyncIterator()
        var wasIdle = false
        while !Task.isCancelled {
            do {
                if let batch = try await nextBatch() {
                    wasIdle = false
                    await attempt(batch)
                } else {
                    if !wasIdle { observer.observe(.idle) }
                    wasIdle = true
                    if finishesWhenEmpty { return }
                    guard await wakeUps.next() != nil else { return }
                }
            } catch {
                await outboxFailed(error)
            }
        }
    }

    /// What goes out next; while the outbox fails, a position in memory goes out alone.
    private func nextBatch() async throws(OutboxError) -> UploadBatch? {
        do throws(OutboxError) { return try await storedBatch() } catch {
            guard next.unstored != nil else { throw error }
            return next.batch(pending: nil, newest: nil, at: clock.now)
        }
    }

    private func storedBatch() async throws(OutboxError) -> UploadBatch? {
        let pending = try await outbox.nextBatch(maximumPastLocations: decisions.batchLimit)
        let newest: StoredUpdate?
        if let pending {
            newest = pending.last
        } else {
            newest = finishesWhenEmpty ? nil : try await outbox.newest()
        }
        return next.batch(pending: pending, newest: newest, at: clock.now)
    }

    private func attempt(_ batch: UploadBatch) async {
        let token: AuthorizationToken
        do {
            token = try await authorization.token(for: context)
        } catch {
            // By our own task, not by the error's word: a provider may call itself cancelled.
            guard !Task.isCancelled else { return }
            observer.observe(.noToken(error))
            let action = decisions.receiveNoToken(retryAfter: error.retryAfter, jitter: jitter())
            return await carryOut(action, after: batch, reason: error.detail, token: nil)
        }
        let startedAt = clock.now
        var outcome: UploadOutcome
        var traffic = HTTPTraffic()
        do {
            let request = try request(for: batch, token: token)
            next.willSend(batch, at: startedAt)
            observer.observe(.uploading(batch))
            let response = try await exchange(request)
            traffic = response.traffic
            outcome = UploadOutcome(of: response, for: settings.vehicle)
            if outcome == .delivered, let date = response.headers["Date"].flatMap(HTTPDate.init) {
                observer.observe(.serverTime(UTCTime(millisecondsSince1970: date.secondsSince1970 * 1000)))
            }
        } catch let error as HTTPTransportError {
            guard !Task.isCancelled else { return }
            traffic = error.traffic
            outcome = UploadOutcome(of: error)
        } catch {
            outcome = .hold(reason: "\(settings.endpoint): \(error)")
        }
        if outcome == .delivered {
            observer.observe(.delivered(batch, traffic: traffic, took: clock.now - startedAt))
        } else {
            observer.observe(.failed(outcome, traffic: traffic))
        }
        let action = decisions.receive(outcome, to: batch, jitter: jitter())
        await carryOut(action, after: batch, reason: outcome.reason, token: token)
    }

    private func request(for batch: UploadBatch, token: AuthorizationToken) throws(HTTPURL.Problem) -> HTTPRequest {
        let sinceFirstSent = next.secondsSinceFirstSent(batch.last.update, at: clock.now)
        let update = VehicleUpdate(
            of: settings.vehicle, state: settings.state,
            lastLocation: VehicleLocation(batch.last.update, secondsSinceFirstSent: sinceFirstSent),
            pastLocations: batch.past.map { VehicleLocation($0.update) })
        return try update.request(to: settings.endpoint, token: token.value, limits: settings.limits)
    }

    private func carryOut(
        _ action: UploadAction, after batch: UploadBatch, reason: String, token: AuthorizationToken?
    ) async {
        do throws(OutboxError) {
            switch action {
            case .acknowledge:
                next.didDeliver(batch, at: clock.now)
                if !batch.pending.isEmpty { try await outbox.acknowledge(batch) }
            case .quarantine(let update):
                try await outbox.quarantine(update, reason: reason)
                observer.observe(.quarantined(update, reason: reason))
            case .renewToken:
                if let token { await authorization.discard(token, for: context) }
            case .wait(let delay): await wait(delay, because: reason)
            case .waitForNetwork(let delay): await waitForNetwork(delay, because: reason)
            case .waitForToken(let delay):
                if let token { await authorization.discard(token, for: context) }
                await wait(delay, because: reason)
            case .forget:
                // The next heartbeat counts from here, so that a refused repetition is not sent in a loop.
                next.didDeliver(batch, at: clock.now)
            case .sendSmaller: break
            }
        } catch {
            await outboxFailed(error)
        }
    }

    private func wait(_ delay: Duration, because reason: String) async {
        observer.observe(.waiting(delay: delay, reason: reason))
        await clock.sleep(for: delay)
    }
}
