package import FleetEngine
package import HTTPMessages
package import ReportedText
package import VehicleAuthorization

/// All that the upload loop knows, and every decision of it: an event goes in, one action comes out. Pure.
///
/// One thing is under way at a time: the outbox is read, a token fetched, a batch sent, the outbox or the token cache
/// told what came of that; or the loop waits, for something to send or for a time. `dueAt` is the time at which
/// `.timeReached` is to be told.
package struct UploadState: Sendable {
    /// What has happened.
    package enum Event: Sendable {
        case started
        /// The outbox has a newer update.
        case updateAccepted
        /// The outbox could not take this update; `overrulingStored` when what it holds is wrong besides.
        case offered(LocationUpdate, overrulingStored: Bool)
        /// The positions in memory were wrong, or the outbox knows better now: none of them is to lead any more.
        case forgetUnstored
        /// Once nothing is pending, the loop may end.
        case finishWhenEmpty
        case networkReturned
        /// Perhaps `dueAt` is reached; perhaps too soon.
        case timeReached
        /// The task is cancelled, and with it whatever is under way.
        case cancelled
        // How each action ends.
        case outboxRead(UploadBatch?, newest: StoredUpdate?)
        case outboxFailed(OutboxError)
        case tokenReceived(AuthorizationToken)
        case noToken(AuthorizationError)
        case answered(UploadOutcome, traffic: HTTPTraffic)
        case unanswered(HTTPTransportError)
        /// Whoever was to be told has been told.
        case told
    }

    /// What the uploader does next; except for the last three, another event tells how it ended.
    package enum Action: Sendable, Hashable {
        /// Ask for a batch; `orNewest`: when nothing is pending, for the newest update.
        case readOutbox(maximumPastLocations: Int, orNewest: Bool)
        case fetchToken
        case send(UploadBatch, AuthorizationToken, secondsSinceFirstSent: Int?)
        case acknowledge(UploadBatch)
        case quarantine(StoredUpdate, reason: ReportedText)
        case discardToken(AuthorizationToken)
        /// Give up the exchange under way; its end is told as if nobody had.
        case abortExchange
        case wait
        case finish
    }

    /// What follows from an event: what the observer hears, in this order, and then the action; without one, whatever
    /// is under way goes on.
    package struct Step: Sendable, Hashable {
        package var reports: [ReportingEvent]
        package var action: Action?

        package init(_ action: Action? = nil, reporting reports: [ReportingEvent] = []) {
            (self.action, self.reports) = (action, reports)
        }

        /// The same after `earlier` reports.
        fileprivate func after(_ earlier: ReportingEvent...) -> Self { Self(action, reporting: earlier + reports) }
    }

    /// Why an exchange is given up before its time limits.
    private enum AbortReason: String {
        case networkChanged = "the network changed, and no answer came on the old connection"
        case newerPosition = "no answer to older positions while a newer one waits, which goes first"
    }

    private struct Exchange {
        let batch: UploadBatch
        let token: AuthorizationToken
        let startedAt: Duration
        /// When it is given up, since the network has returned or a newer position waits.
        var graceEndsAt: Duration?
        var patienceEndsAt: Duration?
        var abortReason: AbortReason?

        mutating func newerPositionWaits(at now: Duration) {
            // A light batch has hardly more to carry than the newer position itself: on the slowest link there must be
            // something that is waited for.
            if batch.past.count > BatchSize.light, patienceEndsAt == nil {
                patienceEndsAt = now + UploadState.patienceWithBacklog
            }
        }
    }

    private enum Phase {
        case stopped
        /// The outbox is read for so many past locations; `isPaced`: for none, for it is not yet their time.
        case reading(limit: Int, isPaced: Bool)
        case fetchingToken(UploadBatch, since: Duration)
        case exchanging(Exchange)
        /// The outbox or the token cache is told what came of the exchange; `backOff`: what is waited for afterwards.
        case telling(backOff: Duration?, because: ReportedText)
        /// For something to send, or for a time.
        case awaitingNews(until: Duration?)
        /// For a time alone; or from `networkEndsAt` on for the network.
        case backingOff(until: Duration, networkEndsAt: Duration?)
    }

    /// How long an exchange under way may still take when the network has changed beneath it.
    private static let graceAfterNetworkChange = Duration.seconds(2)
    /// How long a newer position waits for the answer to older ones.
    private static let patienceWithBacklog = Duration.seconds(3)
    /// After so many rejected one by one, and none taken between, it is not the updates.
    private static let mostRejections = 3

    private let settings: UploadSettings
    private var retry: RetryPolicy { settings.retry }
    private var phase = Phase.stopped
    private var selection: UploadSelection
    private var batchSize: BatchSize
    private var pace: UploadPace
    /// Whether there may be something to send that was not there when the outbox was read last.
    private var hasNews = false
    /// Whether that is a newer position.
    private var hasNewer = false
    /// Whether it was told last that there is nothing to send.
    private var isIdle = false
    private var finishesWhenEmpty = false
    private var isCancelled = false

    /// Failed attempts since the last success. What holds delivery is none: a refused token, a vehicle that is not
    /// there, a token that does not come.
    private var failures = 0
    /// How often the outbox failed since then.
    private var outboxFailures = 0
    /// How often in a row there was no token.
    private var missingTokens = 0
    /// How often in a row delivery was held for what only somebody else can mend.
    private var holds = 0
    /// How many updates were rejected for good since the last success.
    private var rejections = 0
    /// Whether a token was refused since the last success, so that those after it were new ones already.
    private var hasRenewedToken = false
    /// The position that led the last upload that was taken: it is not what another is rejected for.
    private var taken: LocationUpdate?

    /// `now`: the heartbeat counts from here until something is delivered.
    package init(_ settings: UploadSettings, at now: Duration) {
        self.settings = settings
        selection = UploadSelection(heartbeat: settings.heartbeat, at: now)
        batchSize = BatchSize(maximum: settings.maximumPastLocations)
        pace = UploadPace(backlogUpdatesPerSecond: settings.backlogUpdatesPerSecond)
    }

    /// When `.timeReached` is to be told; `nil` when no time is waited for.
    package var dueAt: Duration? {
        switch phase {
        case .awaitingNews(let end): min(end ?? selection.heartbeatReadAt, selection.heartbeatReadAt)
        case .backingOff(let end, _): end
        case .exchanging(let exchange) where exchange.abortReason == nil:
            [exchange.graceEndsAt, exchange.patienceEndsAt].compactMap(\.self).min()
        default: nil
        }
    }

    /// Takes what has happened at `now`, and says what follows; `jitter` draws from 0...1, once for each answer, for a
    /// token that does not come, and for an outbox that fails.
    package mutating func handle(_ event: Event, at now: Duration, jitter: @autoclosure () -> Double) -> Step {
        switch event {
        case .started: return readOutbox(at: now)
        case .updateAccepted:
            hasNewer = true
            return takeNews(at: now)
        case .offered(let update, let overrulingStored):
            selection.offer(unstored: update, overrulingStored: overrulingStored)
            hasNewer = true
            return takeNews(at: now)
        case .forgetUnstored:
            selection.forgetUnstored()
            return Step()
        case .finishWhenEmpty:
            finishesWhenEmpty = true
            return takeNews(at: now)
        case .networkReturned: return networkReturned(at: now)
        case .timeReached: return timeReached(at: now)
        case .cancelled: return cancel()
        case .outboxRead(let batch, let newest): return select(from: batch, newest: newest, at: now)
        case .outboxFailed(let error): return outboxFailed(error, at: now, jitter: jitter)
        case .tokenReceived(let token): return send(with: token, at: now)
        case .noToken(let error): return noToken(error, at: now, jitter: jitter)
        case .answered(let outcome, let traffic): return answered(outcome, traffic, at: now, jitter: jitter)
        case .unanswered(let error): return unanswered(error, at: now, jitter: jitter)
        case .told: return told(at: now)
        }
    }
}

/// Waiting, reading the outbox, and what ends a wait.
extension UploadState {
    private mutating func readOutbox(at now: Duration) -> Step {
        guard !isCancelled else { return finish() }
        (hasNews, hasNewer) = (false, false)
        selection.willRead(at: now)
        let isPaced = pace.timeToBacklog(at: now) > .zero
        let limit = isPaced ? 0 : batchSize.limit
        phase = .reading(limit: limit, isPaced: isPaced)
        return Step(.readOutbox(maximumPastLocations: limit, orNewest: !finishesWhenEmpty))
    }

    private mutating func select(from batch: UploadBatch?, newest: StoredUpdate?, at now: Duration) -> Step {
        guard case .reading(let limit, let isPaced) = phase else { return Step() }
        let pending = isPaced && batch?.pending.isEmpty == true ? nil : batch
        let selected = selection.batch(
            pending: pending, newest: batch?.last.stored ?? newest, maximumPastLocations: limit, at: now)
        if let selected { return attempt(selected, at: now) }
        if isPaced, batch != nil { return awaitNews(for: pace.timeToBacklog(at: now), at: now) }
        let reports = isIdle ? [] : [ReportingEvent.idle]
        isIdle = true
        var step = finishesWhenEmpty ? finish() : awaitNews(for: nil, at: now)
        step.reports = reports + step.reports
        return step
    }

    private mutating func attempt(_ batch: UploadBatch, at now: Duration) -> Step {
        guard !isCancelled else { return finish() }
        let rest = pace.timeToUpload(at: now)
        guard rest == .zero else { return awaitNews(for: rest, at: now) }
        isIdle = false
        phase = .fetchingToken(batch, since: now)
        return Step(.fetchToken)
    }

    /// While the outbox fails, a position in memory goes out alone; otherwise it is asked again after a while, sooner
    /// when there is something to send from memory.
    private mutating func outboxFailed(_ error: OutboxError, at now: Duration, jitter: () -> Double) -> Step {
        if case .reading(let limit, _) = phase,
            let batch = selection.batch(pending: nil, newest: nil, maximumPastLocations: limit, at: now)
        {
            return attempt(batch, at: now)
        }
        outboxFailures += 1
        let delay = retry.delay(beforeRetry: outboxFailures, jitter: jitter())
        return awaitNews(for: delay, at: now).after(
            .outboxFailed(error), .waiting(delay: delay, reason: "\(error)"))
    }

    /// Waits for `delay`, or until there is something to send; without `delay`, for as long as that takes.
    private mutating func awaitNews(for delay: Duration?, at now: Duration) -> Step {
        guard !hasNews else { return readOutbox(at: now) }
        guard !isCancelled else { return finish() }
        phase = .awaitingNews(until: delay.map { now + $0 })
        return Step(.wait)
    }

    /// Waits for `delay`, or until the network returns; but then for `spacing` in any case, so that however soon it
    /// returns, no two attempts begin within the least time between them.
    private mutating func backOff(
        _ delay: Duration, networkEndsAfter spacing: Duration? = nil, because reason: ReportedText, at now: Duration
    ) -> Step {
        guard !isCancelled else { return finish() }
        phase = .backingOff(until: now + delay, networkEndsAt: spacing.map { now + $0 })
        return Step(.wait, reporting: [.waiting(delay: delay, reason: reason)])
    }

    private mutating func takeNews(at now: Duration) -> Step {
        hasNews = true
        switch phase {
        case .awaitingNews: return readOutbox(at: now)
        case .exchanging(var exchange) where hasNewer:
            exchange.newerPositionWaits(at: now)
            phase = .exchanging(exchange)
        default: break
        }
        return Step()
    }

    /// What failed before says nothing about the network that has come back.
    private mutating func networkReturned(at now: Duration) -> Step {
        (failures, missingTokens) = (0, 0)
        switch phase {
        case .exchanging(var exchange):
            exchange.graceEndsAt = exchange.graceEndsAt ?? now + Self.graceAfterNetworkChange
            phase = .exchanging(exchange)
        case .backingOff(let end, let networkEndsAt?):
            phase = .backingOff(until: min(end, max(networkEndsAt, now)), networkEndsAt: nil)
        default: break
        }
        return timeReached(at: now)
    }

    private mutating func timeReached(at now: Duration) -> Step {
        guard let dueAt, dueAt <= now else { return Step() }
        guard case .exchanging(var exchange) = phase else { return readOutbox(at: now) }
        exchange.abortReason = dueAt == exchange.graceEndsAt ? .networkChanged : .newerPosition
        phase = .exchanging(exchange)
        return Step(.abortExchange)
    }

    /// A wait ends at once. What is under way is cancelled with the task: its end is awaited, for an answer that has
    /// come all the same is acknowledged.
    private mutating func cancel() -> Step {
        isCancelled = true
        switch phase {
        case .stopped, .awaitingNews, .backingOff: return finish()
        default: return Step()
        }
    }

    private mutating func finish() -> Step {
        phase = .stopped
        return Step(.finish)
    }
}

/// From a token to an answer, and what follows from that.
extension UploadState {
    private mutating func send(with token: AuthorizationToken, at now: Duration) -> Step {
        guard !isCancelled, case .fetchingToken(let batch, _) = phase else { return finish() }
        let secondsSinceFirstSent = selection.secondsSinceFirstSent(batch.last.update, at: now)
        selection.willSend(batch, at: now)
        pace.willSend(past: batch.past.count, at: now)
        var exchange = Exchange(batch: batch, token: token, startedAt: now)
        if hasNewer { exchange.newerPositionWaits(at: now) }
        phase = .exchanging(exchange)
        return Step(
            .send(batch, token, secondsSinceFirstSent: secondsSinceFirstSent), reporting: [.uploading(batch)])
    }

    /// The provider is asked again soon at first, then as seldom as on any hold.
    private mutating func noToken(_ error: AuthorizationError, at now: Duration, jitter: () -> Double) -> Step {
        guard !isCancelled, case .fetchingToken(_, let since) = phase else { return finish() }
        missingTokens += 1
        let delay = retry.delay(beforeRetry: missingTokens, jitter: jitter(), after: error.retryAfter)
        let spacing = retry.spacing(after: now - since)
        return backOff(
            max(delay, spacing), networkEndsAfter: error.retryAfter == nil ? spacing : nil, because: "\(error)",
            at: now
        ).after(.noToken(error))
    }

    private mutating func unanswered(_ error: HTTPTransportError, at now: Duration, jitter: () -> Double) -> Step {
        guard !isCancelled, case .exchanging(let exchange) = phase else { return finish() }
        // What failed after the network returned says nothing about it, and is made again like what was given up.
        let reason = exchange.abortReason ?? (exchange.graceEndsAt == nil ? nil : .networkChanged)
        guard let reason, error.code == .cancelled || reason == .networkChanged else {
            return answered(UploadOutcome(of: error), error.traffic, at: now, jitter: jitter)
        }
        switch reason {
        case .networkChanged: batchSize.startAgain()
        case .newerPosition: batchSize.aborted(past: exchange.batch.past.count)
        }
        let words: ReportedText = "\(settings.endpoint.origin): \(reason.rawValue)"
        return goOn(after: now - exchange.startedAt, because: words, at: now)
            .after(.failed(.unreachable(reason: words), traffic: error.traffic))
    }

    private mutating func answered(
        _ answer: UploadOutcome, _ traffic: HTTPTraffic, at now: Duration, jitter: () -> Double
    ) -> Step {
        guard case .exchanging(let exchange) = phase else { return finish() }
        var outcome = answer
        // A server that has rejected one update after another is not to be given the rest.
        if case .rejected(let reason) = answer, rejectsEverything { outcome = .hold(reason: reason) }
        let report =
            outcome == .delivered
            ? ReportingEvent.delivered(exchange.batch, traffic: traffic, took: now - exchange.startedAt)
            : .failed(outcome, traffic: traffic)
        return conclude(exchange, outcome, at: now, jitter: jitter()).after(report)
    }

    private mutating func conclude(
        _ exchange: Exchange, _ outcome: UploadOutcome, at now: Duration, jitter: Double
    ) -> Step {
        let (batch, took, reason) = (exchange.batch, now - exchange.startedAt, outcome.reason)
        let spacing = retry.spacing(after: took)
        missingTokens = 0
        if !outcome.isHold { holds = 0 }
        switch outcome {
        case .delivered:
            (failures, outboxFailures, rejections, hasRenewedToken, taken) = (0, 0, 0, false, batch.last.update)
            batchSize.delivered(past: batch.past.count, took: took)
            pace.delivered()
            selection.didDeliver(batch, at: now)
            return batch.pending.isEmpty ? readOutbox(at: now) : tell(.acknowledge(batch), because: reason)
        case .tokenRefused where hasRenewedToken:
            batchSize.held()
            return tell(.discardToken(exchange.token), backOff: retry.holdDelay(jitter: jitter), because: reason)
        case .tokenRefused:
            hasRenewedToken = true
            return tell(.discardToken(exchange.token), because: reason)
        case .retry(_, let after):
            fail()
            let delay = retry.delay(beforeRetry: failures, jitter: jitter, after: after)
            return backOff(max(delay, spacing), because: reason, at: now)
        case .throttled(_, let after):
            failures += 1
            pace.throttled(at: now)
            let delay = retry.delay(beforeRetry: failures, jitter: jitter, after: after)
            return backOff(max(delay, pace.timeToUpload(at: now)), because: reason, at: now)
        case .unreachable:
            failures += 1
            batchSize.unanswered(past: batch.past.count)
            let delay = retry.unreachableDelay(beforeRetry: failures, took: took, jitter: jitter)
            return backOff(max(delay, spacing), networkEndsAfter: spacing, because: reason, at: now)
        case .intercepted:
            fail()
            let delay = retry.delay(beforeRetry: failures, jitter: jitter)
            return backOff(max(delay, spacing), networkEndsAfter: spacing, because: reason, at: now)
        case .hold:
            batchSize.held()
            if rejectsEverything, !batch.past.isEmpty {
                // Perhaps it takes the newest: that goes without the older ones, which wait.
                pace.holdBacklog(for: retry.holdDelay(jitter: jitter), at: now)
                return goOn(after: took, because: reason, at: now)
            }
            holds += 1
            return backOff(retry.absenceDelay(beforeProbe: holds, jitter: jitter), because: reason, at: now)
        case .rejected:
            hasRenewedToken = false
            return rejected(batch, reason: reason, at: now)
        }
    }

    /// Halves until the one update is found that the server does not take; that one is set aside.
    private mutating func rejected(_ batch: UploadBatch, reason: ReportedText, at now: Duration) -> Step {
        if batch.pending.count > 1 {
            // Alone, the newest needs no past location; a repeated newest still carries one older update.
            batchSize.rejected(past: batch.past.count, least: batch.lastIsPending ? 0 : 1)
            return readOutbox(at: now)
        }
        if let alone = batch.pending.first {
            if batch.last.sequence == nil, batch.last.update != taken {
                // One from memory leads, and may be what is rejected: it goes alone first.
                batchSize.rejected(past: 1, least: 0)
                return readOutbox(at: now)
            }
            foundRejectedUpdate()
            return tell(.quarantine(alone, reason: reason), because: reason)
        }
        foundRejectedUpdate()
        selection.didReject(batch, at: now)
        return readOutbox(at: now)
    }

    private mutating func foundRejectedUpdate() {
        rejections += 1
        batchSize.foundRejectedUpdate()
    }

    private var rejectsEverything: Bool { rejections >= Self.mostRejections }

    private mutating func fail() {
        failures += 1
        batchSize.startAgain()
    }

    /// At once, but within the least time between attempts.
    private mutating func goOn(after took: Duration, because reason: ReportedText, at now: Duration) -> Step {
        let spacing = retry.spacing(after: took)
        return spacing > .zero ? backOff(spacing, because: reason, at: now) : readOutbox(at: now)
    }

    private mutating func tell(_ action: Action, backOff: Duration? = nil, because reason: ReportedText) -> Step {
        phase = .telling(backOff: backOff, because: reason)
        return Step(action)
    }

    private mutating func told(at now: Duration) -> Step {
        guard case .telling(let delay?, let reason) = phase else { return readOutbox(at: now) }
        return backOff(delay, because: reason, at: now)
    }
}
