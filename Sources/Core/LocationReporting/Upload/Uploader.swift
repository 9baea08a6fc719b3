package import FleetEngine
import GNSS
package import HTTPMessages
import ReportedText
import TimeAndChance
package import VehicleAuthorization

/// Sends what the outbox holds, newest position first, until everything is delivered; then waits for more.
///
/// At every upload the provider is asked for a token, and token and update are packed together. What happens after an
/// answer is decided by `UploadDecisions`; what goes out next, by `NextUpload`.
package actor Uploader {
    let settings: UploadSettings
    private let outbox: any Outbox
    let authorization: any VehicleAuthorization
    let transport: any HTTPTransport
    let clock: MonotonicClock
    private let jitter: @Sendable () -> Double
    let observer: any ReportingObserver

    var decisions: UploadDecisions
    private var next: NextUpload
    private var finishesWhenEmpty = false
    /// Whether there may be something to send that was not there when the outbox was asked last.
    var hasNews = false
    /// Whether that is a newer position.
    var hasNewer = false
    /// Each hears of one thing while something waits for it: anything to send; a newer position; the network's return.
    var idleListener: AsyncStream<Void>.Continuation?
    var newerListener: AsyncStream<Void>.Continuation?
    var networkListener: AsyncStream<Void>.Continuation?
    /// How often the network has come back.
    var networkReturns = 0

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
        decisions = UploadDecisions(
            maximumPastLocations: settings.maximumPastLocations,
            backlogUpdatesPerSecond: settings.backlogUpdatesPerSecond, retry: settings.retry)
        next = NextUpload(heartbeat: settings.heartbeat, at: clock.now)
    }

    /// Tells that the outbox has a new update.
    package func wake() {
        hasNewer = true
        look()
        newerListener?.yield()
    }

    /// Takes the newest position although the outbox cannot: it is sent from memory, and lost if the process ends.
    ///
    /// `overrulingStored` when what the outbox holds was wrong and it could not be told so.
    package func offer(unstored update: LocationUpdate, overrulingStored: Bool = false) {
        next.offer(unstored: update, overrulingStored: overrulingStored)
        wake()
    }

    /// Tells that the positions in memory were wrong, or that the outbox knows better now: none of them is to lead any
    /// more.
    package func forgetUnstored() { next.forgetUnstored() }

    /// Lets `run` end once nothing is pending: a recorded log has come to its end.
    package func finishWhenEmpty() {
        finishesWhenEmpty = true
        look()
    }

    /// Uploads until cancelled, or until empty after `finishWhenEmpty`.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.beat() }
            await self.upload()
            group.cancelAll()
        }
    }

    var context: AuthorizationContext { AuthorizationContext(vehicleID: settings.vehicle.vehicleID) }

    /// Wakes the upload loop whenever a repetition may be due.
    private func beat() async {
        while !Task.isCancelled {
            let wait = next.timeToHeartbeat(at: clock.now)
            if wait == .zero { look() }
            await clock.sleep(for: max(wait, .seconds(1)))
        }
    }

    private func upload() async {
        var wasIdle = false
        while !Task.isCancelled {
            do {
                (hasNews, hasNewer) = (false, false)
                switch try await nextStep() {
                case .send(let batch):
                    wasIdle = false
                    await attempt(batch)
                case .pause(let delay): await waitForNews(within: delay)
                case .idle:
                    if !wasIdle { observer.observe(.idle) }
                    wasIdle = true
                    if finishesWhenEmpty { return }
                    await waitForNews(within: nil)
                }
            } catch {
                await outboxFailed(error)
            }
        }
    }

    private enum Step {
        case send(UploadBatch)
        /// It is not yet the time for what waits.
        case pause(Duration)
        case idle
    }

    /// What happens next; while the outbox fails, a position in memory goes out alone.
    private func nextStep() async throws(OutboxError) -> Step {
        do throws(OutboxError) { return try await storedStep() } catch {
            guard let batch = next.batch(pending: nil, newest: nil, at: clock.now) else { throw error }
            return step(for: batch)
        }
    }

    private func storedStep() async throws(OutboxError) -> Step {
        let pause = decisions.pace.timeToBacklog(at: clock.now)
        let limit = pause > .zero ? 0 : decisions.batchSize.limit
        var pending = try await outbox.nextBatch(maximumPastLocations: limit)
        let newest: StoredUpdate?
        if let pending {
            newest = pending.last
        } else {
            newest = finishesWhenEmpty ? nil : try await outbox.newest()
        }
        let pauses = pause > .zero && pending != nil
        if pauses, pending?.pending.isEmpty == true { pending = nil }
        if let batch = next.batch(pending: pending, newest: newest, maximumPastLocations: limit, at: clock.now) {
            return step(for: batch)
        }
        return pauses ? .pause(pause) : .idle
    }

    private func step(for batch: UploadBatch) -> Step {
        let rest = decisions.pace.timeToUpload(at: clock.now)
        return rest > .zero ? .pause(rest) : .send(batch)
    }

    /// Tells of it and asks again after a while; sooner when there is something to send from memory.
    private func outboxFailed(_ error: OutboxError) async {
        observer.observe(.outboxFailed(error))
        guard case .wait(let delay) = decisions.receiveOutboxFailure(jitter: jitter()) else { return }
        observer.observe(.waiting(delay: delay, reason: "\(error)"))
        await waitForNews(within: delay)
    }

    private func attempt(_ batch: UploadBatch) async {
        let askedAt = clock.now
        let token: AuthorizationToken
        do {
            token = try await authorization.token(for: context)
        } catch {
            // By our own task, not by the error's word: a provider may call itself cancelled.
            guard !Task.isCancelled else { return }
            observer.observe(.noToken(error))
            let action = decisions.receiveNoToken(
                retryAfter: error.retryAfter, took: clock.now - askedAt, jitter: jitter())
            return await carryOut(action, after: batch, reason: "\(error)", token: nil)
        }
        let request: HTTPRequest
        do { request = try self.request(for: batch, token: token) } catch {
            return await conclude(
                batch, .hold(reason: "\(settings.endpoint): \(error)"), HTTPTraffic(), took: .zero, token: token)
        }
        let startedAt = clock.now
        next.willSend(batch, at: startedAt)
        decisions.willSend(batch, at: startedAt)
        observer.observe(.uploading(batch))
        let end = await exchange(request, for: batch)
        let took = clock.now - startedAt
        switch end {
        case .answered(let response):
            let outcome = UploadOutcome(of: response, to: request, for: settings.vehicle)
            if outcome == .delivered, let date = response.headers["Date"].flatMap(UTCTime.init(httpDate:)) {
                observer.observe(.serverTime(date))
            }
            await conclude(batch, outcome, response.traffic, took: took, token: token)
        case .failed(let error):
            guard !Task.isCancelled else { return }
            await conclude(batch, UploadOutcome(of: error), error.traffic, took: took, token: token)
        case .givenUp(let reason, let traffic):
            guard !Task.isCancelled else { return }
            let words: ReportedText = "\(settings.endpoint.origin): \(reason.words)"
            observer.observe(.failed(.unreachable(reason: words), traffic: traffic))
            await carryOut(
                decisions.giveUp(batch, because: reason, took: took), after: batch, reason: words, token: token)
        }
    }

    private func conclude(
        _ batch: UploadBatch, _ answer: UploadOutcome, _ traffic: HTTPTraffic, took: Duration,
        token: AuthorizationToken
    ) async {
        let outcome = decisions.interpreted(answer)
        if outcome == .delivered {
            observer.observe(.delivered(batch, traffic: traffic, took: took))
        } else {
            observer.observe(.failed(outcome, traffic: traffic))
        }
        let action = decisions.receive(outcome, to: batch, at: clock.now, took: took, jitter: jitter())
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
        _ action: UploadAction, after batch: UploadBatch, reason: ReportedText, token: AuthorizationToken?
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
            case .waitForNetwork(let delay, let least): await waitForNetwork(delay, atLeast: least, because: reason)
            case .waitForToken(let delay):
                if let token { await authorization.discard(token, for: context) }
                await wait(delay, because: reason)
            case .forget:
                next.didRefuse(batch, at: clock.now)
            case .sendAgain: break
            }
        } catch {
            await outboxFailed(error)
        }
    }

    private func wait(_ delay: Duration, because reason: ReportedText) async {
        observer.observe(.waiting(delay: delay, reason: reason))
        await clock.sleep(for: delay)
    }
}

/// What the uploader waits for, and who tells it.
extension Uploader {
    /// Tells that the network has come back: whatever waits for that goes on at once, on a new connection.
    package func networkReturned() async {
        networkReturns += 1
        transport.networkChanged()
        await authorization.networkReturned()
        decisions.networkReturned()
        networkListener?.yield()
    }

    /// Asks the outbox again, if the uploader waits for something to send.
    func look() {
        hasNews = true
        idleListener?.yield()
    }

    /// Waits until there may be something to send, at most `limit`; `nil` waits for as long as it takes.
    func waitForNews(within limit: Duration?) async {
        guard !hasNews else { return }
        let (news, listener) = Self.makeListener()
        idleListener = listener
        defer { idleListener = nil }
        guard let limit else {
            for await _ in news { return }
            return
        }
        await sleep(for: limit) { for await _ in news { return } }
    }

    /// Waits for `delay`, or until the network comes back, but for `least` in any case.
    func waitForNetwork(_ delay: Duration, atLeast least: Duration, because reason: ReportedText) async {
        observer.observe(.waiting(delay: delay, reason: reason))
        let (returns, listener) = Self.makeListener()
        networkListener = listener
        defer { networkListener = nil }
        let begun = clock.now
        await sleep(for: delay) { [clock] in
            for await _ in returns { return await clock.sleep(for: least - (clock.now - begun)) }
        }
    }

    /// A stream that keeps one call in mind, and what calls.
    static func makeListener() -> (AsyncStream<Void>, AsyncStream<Void>.Continuation) {
        AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Sleeps for `delay`, or until `event` returns.
    private func sleep(for delay: Duration, unless event: @escaping @Sendable () async -> Void) async {
        await withTaskGroup { group in
            group.addTask { [clock] in await clock.sleep(for: delay) }
            group.addTask { await event() }
            await group.next()
            group.cancelAll()
        }
    }
}

/// One request under way, and what gives it up.
extension Uploader {
    /// How long an exchange under way may still take when the network has changed beneath it.
    static let graceAfterNetworkChange = Duration.seconds(2)
    /// How long a newer position waits for the answer to older ones.
    static let patienceWithBacklog = Duration.seconds(3)

    /// How an exchange ended.
    enum ExchangeEnd {
        case answered(HTTPResponse)
        case failed(HTTPTransportError)
        case givenUp(GivingUp, HTTPTraffic)
    }

    private enum Part {
        case sent(Result<HTTPResponse, HTTPTransportError>)
        case lostPatience(GivingUp)
    }

    /// One exchange, until its answer or the end of our patience. Giving it up closes its connection.
    func exchange(_ request: HTTPRequest, for batch: UploadBatch) async -> ExchangeEnd {
        let (returns, networkListener) = Self.makeListener()
        let (newer, newerListener) = Self.makeListener()
        (self.networkListener, self.newerListener) = (networkListener, newerListener)
        defer { (self.networkListener, self.newerListener) = (nil, nil) }
        if hasNewer { newerListener.yield() }
        let returnsBefore = networkReturns
        let (result, reason) = await withTaskGroup(of: Part.self) { group in
            group.addTask { [transport] in
                do throws(HTTPTransportError) { return .sent(.success(try await transport.send(request))) } catch {
                    return .sent(.failure(error))
                }
            }
            group.addTask { [clock] in
                for await _ in returns { break }
                await clock.sleep(for: Self.graceAfterNetworkChange)
                return .lostPatience(.networkChanged)
            }
            // A light batch has hardly more to carry than the newer position itself: on the slowest link there must be
            // something that is waited for.
            if batch.past.count > BatchSize.light {
                group.addTask { [clock] in
                    for await _ in newer { break }
                    await clock.sleep(for: Self.patienceWithBacklog)
                    return .lostPatience(.newerPosition)
                }
            }
            // Whichever ends first ends the others; the exchange answers in any case, perhaps with what came just then.
            var reason: GivingUp?
            var result: Result<HTTPResponse, HTTPTransportError>?
            for await part in group {
                switch part {
                case .sent(let sent): result = sent
                case .lostPatience(let lost): if result == nil, reason == nil { reason = lost }
                }
                group.cancelAll()
            }
            return (result, reason)
        }
        let hasNetworkReturned = networkReturns != returnsBefore
        return Self.end(result, givenUpFor: reason ?? (hasNetworkReturned ? .networkChanged : nil))
    }

    private static func end(
        _ result: Result<HTTPResponse, HTTPTransportError>?, givenUpFor reason: GivingUp?
    ) -> ExchangeEnd {
        switch (result, reason) {
        case (.success(let response)?, _): .answered(response)
        // What failed after the network returned says nothing about it, and is made again like what was given up.
        case (.failure(let error)?, let reason?) where error.code == .cancelled || reason == .networkChanged:
            .givenUp(reason, error.traffic)
        case (.failure(let error)?, _): .failed(error)
        case (nil, _): .failed(HTTPTransportError(.cancelled, "cancelled"))
        }
    }
}

/// The vehicle's state by itself, as on stop.
extension Uploader {
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
        let outcome = UploadOutcome(of: response, to: request, for: settings.vehicle)
        observer.observe(
            outcome == .delivered
                ? .stateSent(state, traffic: response.traffic) : .failed(outcome, traffic: response.traffic))
        if case .tokenRefused = outcome { await authorization.discard(token, for: context) }
        return outcome
    }
}
