import FleetEngine
import HTTPMessages
import ReportedText
import VehicleAuthorization

/// All that the upload loop knows, and every decision of it: an event goes in, one action comes out. Pure.
///
/// One thing is in progress at a time: the outbox is read, a token fetched, a batch sent, its result passed to outbox
/// or token cache; or the loop waits for something to send, or until `dueAt`, when `.timeReached` is due.
struct UploadState: Sendable {
    private enum Phase {
        case stopped
        /// The outbox is read for so many past locations; `isPaced`: not for the backlog, for it is not yet its time.
        /// `token`: the one that is there already.
        case reading(limit: Int, isPaced: Bool, token: AuthorizationToken?)
        case fetchingToken(UploadBatch, since: Duration)
        case exchanging(UploadExchange)
        /// The outbox or the token cache gets the result of the exchange; `backOff`: what is waited for afterwards.
        case telling(backOff: Duration?, because: ReportedText)
        case tellingState(since: Duration)
        /// For something to send, or for a time.
        case awaitingNews(until: Duration?)
        /// For a time alone; or from `networkEndsAt` on for the network.
        case backingOff(until: Duration, networkEndsAt: Duration?)

        /// Since when a token is being fetched.
        var tokenSought: Duration? {
            switch self {
            case .fetchingToken(_, let since), .tellingState(let since): since
            default: nil
            }
        }
    }

    /// After so many rejected one by one, and none taken between, it is not the updates.
    private static let mostRejections = 3
    /// What was accepted while a token was fetched for longer than this goes out with it.
    private static let quickFetch = Duration.milliseconds(100)
    /// After a failure, an exchange without an answer for so long is likely to fail as well.
    private static let quickRecovery = Duration.seconds(1)

    private let settings: UploadSettings
    private var retry: RetryPolicy { settings.retry }
    /// When the last event came.
    private var now: Duration
    private var phase = Phase.stopped
    private var selection: UploadSelection
    private var batchSize: BatchSize
    private var patience: UploadPatience
    private var pace: UploadPace
    private var contents = OutboxContents.unknown
    /// Whether there may be something to send that was not there when the outbox was read last.
    private var hasNews = false
    /// Whether that is a newer position.
    private var hasNewer = false
    /// Whether it was told last that there is nothing to send.
    private var isIdle = false
    private var finishesWhenEmpty = false
    private var isCancelled = false
    private var privacy: UploadPrivacy

    /// Failed attempts since the last success. What holds delivery does not count: a rejected token, a vehicle that is
    /// not there, a token that does not come.
    private var failures = 0
    /// How often the outbox failed since then.
    private var outboxFailures = 0
    /// How often in a row there was no token.
    private var missingTokens = 0
    /// How often in a row delivery was put on hold.
    private var holds = 0
    /// How many updates were rejected for good since the last success.
    private var rejections = 0
    /// Whether a token was rejected since the last success, so that those after it were new ones already.
    private var hasRenewedToken = false
    /// The position that led the last upload that was taken, and when the first one began: it is not what another is
    /// rejected for.
    private var taken: (update: LocationUpdate, startedAt: Duration)?

    /// `now`: the heartbeat counts from here until something is delivered.
    init(_ settings: UploadSettings, privacy: UploadPrivacy = .open, at now: Duration) {
        (self.settings, self.privacy, self.now) = (settings, privacy, now)
        selection = UploadSelection(heartbeat: settings.heartbeat, at: now)
        batchSize = BatchSize(maximum: settings.maximumPastLocations)
        patience = UploadPatience(limits: settings.limits)
        pace = UploadPace(backlogUpdatesPerSecond: settings.backlogUpdatesPerSecond)
    }

    /// What updates say of an on-demand vehicle.
    var vehicleState: VehicleState? { privacy.vehicleState(settings.state) }

    /// When `.timeReached` is due; `nil` when no time is waited for.
    var dueAt: Duration? {
        switch phase {
        case .awaitingNews(let end): min(end ?? selection.heartbeatReadAt, selection.heartbeatReadAt)
        case .backingOff(let end, _): end
        case .exchanging(let exchange): exchange.abortDueAt
        default: nil
        }
    }

    /// How long ago the request with `update` in front began, if it was taken, or is in progress: one that failed
    /// counts for nothing, and after a failure one that gets no answer within a second.
    func timeSinceSent(_ update: LocationUpdate, at now: Duration) -> Duration? {
        if let taken, taken.update == update { return now - taken.startedAt }
        guard case .exchanging(let exchange) = phase, exchange.batch.last == update else { return nil }
        let elapsed = now - exchange.startedAt
        return failures == 0 || elapsed < Self.quickRecovery ? elapsed : nil
    }

    /// Goes on where `former` has ended, in whose place this one's uploader delivers; what this one has heard is newer.
    mutating func succeed(_ former: Self) {
        selection.succeed(former.selection)
        taken = former.taken
        privacy.succeed(
            former.privacy, hasNewer: hasNewer,
            isHeard: settings.state == nil || former.settings.endpoint == settings.endpoint)
    }

    /// Takes what has happened at `now`, and returns what follows; `jitter` draws from 0...1 when a wait may begin.
    mutating func handle(
        _ event: UploadEvent, at now: Duration, jitter: @autoclosure () -> Double
    ) -> UploadStep {
        self.now = now
        switch event {
        case .started: return readOutbox()
        case .accepted(let batch):
            contents.accept(batch)
            return takeNews(isNewer: true)
        case .offered(let update, let overrulingStored):
            contents = .unknown
            selection.offer(unstored: update, overrulingStored: overrulingStored)
            return takeNews(isNewer: true)
        case .forgetUnstored:
            selection.forgetUnstored()
            return UploadStep()
        case .finishWhenEmpty:
            finishesWhenEmpty = true
            return takeNews(isNewer: false)
        case .networkReturned: return networkReturned()
        case .privateModeBegan:
            privacy = .inForce(owesOffline: settings.state != nil)
            return takeNews(isNewer: false)
        case .privateModeEnded(let mayBePrivate):
            privacy.end(mayBePrivate: mayBePrivate)
            return takeNews(isNewer: false)
        case .privateZonesChanged(let areThere):
            privacy.changeZones(areThere: areThere)
            return takeNews(isNewer: false)
        case .requeued:
            contents = .unknown
            return takeNews(isNewer: false)
        case .timeReached: return timeReached()
        case .cancelled: return cancel()
        case .outboxRead(let batch, let newest):
            // What was accepted while it was read may not be in its answer.
            contents = hasNews ? .unknown : OutboxContents(read: batch, newest: newest, at: now)
            return select(from: batch, newest: newest)
        case .outboxFailed(let error): return outboxFailed(error, jitter: jitter)
        case .tokenReceived(let token): return tokenReceived(token)
        case .noToken(let error): return noToken(error, jitter: jitter)
        case .answered(let outcome, let traffic): return answered(outcome, traffic, jitter: jitter)
        case .unanswered(let error): return unanswered(error, jitter: jitter)
        case .told: return told()
        case .stateTold(let outcome): return stateTold(outcome, jitter: jitter())
        }
    }
}

/// Waiting, reading the outbox, and what ends a wait.
extension UploadState {
    /// `least`: so many past locations, however few are sent otherwise.
    private mutating func readOutbox(for token: AuthorizationToken? = nil, least: Int = 0) -> UploadStep {
        guard !isCancelled else { return finish() }
        (hasNews, hasNewer) = (false, false)
        selection.willRead(at: now)
        if privacy.owesOffline { return tellOffline() }
        let isPaced = pace.timeToBacklog(at: now) > .zero
        let limit = pace.holdsPast(at: now) ? 0 : max(least, batchSize.limit)
        phase = .reading(limit: limit, isPaced: isPaced, token: token)
        if let known = contents.answer(maximumPastLocations: limit, at: now) {
            return select(from: known.batch, newest: finishesWhenEmpty ? nil : known.newest)
        }
        return UploadStep(
            .readOutbox(maximumPastLocations: limit, withBacklog: !isPaced, orNewest: !finishesWhenEmpty))
    }

    private mutating func select(from batch: UploadBatch?, newest: StoredUpdate?) -> UploadStep {
        guard case .reading(let limit, let isPaced, let token) = phase else { return UploadStep() }
        let pending = isPaced && batch?.pending.isEmpty == true ? nil : batch
        let selected = selection.batch(
            pending: pending, newest: batch?.stored ?? newest, maximumPastLocations: isPaced ? 0 : limit, at: now)
        if let selected, privacy.allows(selected, isLast: finishesWhenEmpty) { return attempt(selected, with: token) }
        if limit == 0, batch != nil, privacy.allowsBacklog(isLast: finishesWhenEmpty), !pace.holdsPast(at: now) {
            // What is not to be repeated alone may be in front of one that waits.
            return readOutbox(for: token, least: 1)
        }
        if isPaced, batch != nil { return awaitNews(for: pace.timeToBacklog(at: now)) }
        if hasNews { return readOutbox() }  // accepted while it was read
        let step = finishesWhenEmpty ? finish() : awaitNews(for: nil)
        guard !isIdle else { return step }
        isIdle = true
        return step.after(.idle)
    }

    private mutating func attempt(_ batch: UploadBatch, with token: AuthorizationToken?) -> UploadStep {
        guard !isCancelled else { return finish() }
        let rest = pace.timeToUpload(at: now)
        guard rest == .zero else { return awaitNews(for: rest) }
        isIdle = false
        if let token { return send(batch, with: token) }
        phase = .fetchingToken(batch, since: now)
        return UploadStep(.fetchToken)
    }

    /// While the outbox fails, a position in memory goes out alone; otherwise it is asked again after a while, sooner
    /// when there is something to send from memory.
    private mutating func outboxFailed(_ error: OutboxError, jitter: () -> Double) -> UploadStep {
        contents = .unknown
        if privacy == .open, case .reading(let limit, _, let token) = phase,
            let batch = selection.batch(pending: nil, newest: nil, maximumPastLocations: limit, at: now)
        {
            return attempt(batch, with: token)
        }
        outboxFailures += 1
        let delay = retry.delay(beforeRetry: outboxFailures, jitter: jitter())
        return awaitNews(for: delay).after(
            .outboxFailed(error), .waiting(delay: delay, reason: "\(error)"))
    }

    /// Waits for `delay`, or until there is something to send; without `delay`, for as long as that takes.
    private mutating func awaitNews(for delay: Duration?) -> UploadStep {
        guard !hasNews else { return readOutbox() }
        guard !isCancelled else { return finish() }
        phase = .awaitingNews(until: delay.map { now + $0 })
        return UploadStep(.wait)
    }

    /// Waits for `delay`, or until the network returns; but then for `spacing` in any case, so that however soon it
    /// returns, no two attempts begin within the least time between them.
    private mutating func backOff(
        _ delay: Duration, networkEndsAfter spacing: Duration? = nil, because reason: ReportedText
    ) -> UploadStep {
        guard !isCancelled else { return finish() }
        phase = .backingOff(until: now + delay, networkEndsAt: spacing.map { now + $0 })
        return UploadStep(.wait, reporting: [.waiting(delay: delay, reason: reason)])
    }

    private mutating func takeNews(isNewer: Bool) -> UploadStep {
        (hasNews, hasNewer) = (true, hasNewer || isNewer)
        if isNewer { privacy.takeNewer() }
        switch phase {
        case .awaitingNews: return readOutbox()
        case .exchanging(var exchange) where hasNewer:
            exchange.newerPositionWaits(at: now)
            phase = .exchanging(exchange)
        default: break
        }
        return UploadStep()
    }

    /// Before anything else goes out, Fleet Engine hears that the vehicle is offline.
    private mutating func tellOffline() -> UploadStep {
        let rest = pace.timeToUpload(at: now)
        guard rest == .zero else { return awaitNews(for: rest) }
        phase = .tellingState(since: now)
        return UploadStep(.tell(.offline))
    }

    private mutating func stateTold(_ outcome: UploadOutcome, jitter: Double) -> UploadStep {
        guard !isCancelled, case .tellingState(let since) = phase else { return finish() }
        missingTokens = 0
        if case .hold = outcome {} else { holds = 0 }
        switch outcome {
        case .delivered, .rejected:
            if outcome == .delivered { failures = 0 }
            if privacy.owesOffline { privacy = .inForce(owesOffline: false) }
            return readOutbox()
        default: return backOff(after: outcome, took: now - since, jitter: jitter)
        }
    }

    /// What failed before says nothing about the network that has come back.
    private mutating func networkReturned() -> UploadStep {
        (failures, missingTokens) = (0, 0)
        patience.startAgain()
        switch phase {
        case .exchanging(var exchange):
            exchange.networkReturned(at: now)
            phase = .exchanging(exchange)
        case .backingOff(let end, let networkEndsAt?):
            phase = .backingOff(until: min(end, max(networkEndsAt, now)), networkEndsAt: nil)
        default: break
        }
        return timeReached()
    }

    private mutating func timeReached() -> UploadStep {
        guard let dueAt, dueAt <= now else { return UploadStep() }
        guard case .exchanging(var exchange) = phase else { return readOutbox() }
        exchange.abort()
        phase = .exchanging(exchange)
        return UploadStep(.abortExchange)
    }

    /// A wait ends at once. What is in progress is cancelled with the task; an answer that comes nevertheless counts.
    private mutating func cancel() -> UploadStep {
        isCancelled = true
        switch phase {
        case .stopped, .awaitingNews, .backingOff: return finish()
        default: return UploadStep()
        }
    }

    private mutating func finish() -> UploadStep {
        phase = .stopped
        return UploadStep(.finish)
    }
}

/// From a token to an answer, and what follows from that.
extension UploadState {
    private mutating func tokenReceived(_ token: AuthorizationToken) -> UploadStep {
        guard !isCancelled, case .fetchingToken(let batch, let since) = phase else { return finish() }
        if privacy.owesOffline || !privacy.allows(batch, isLast: finishesWhenEmpty) { return readOutbox(for: token) }
        // What was accepted during a long wait goes out in front of what waited, and not right behind it.
        return hasNewer && now - since > Self.quickFetch ? readOutbox(for: token) : send(batch, with: token)
    }

    private mutating func send(_ batch: UploadBatch, with token: AuthorizationToken) -> UploadStep {
        let secondsSinceFirstSent = selection.secondsSinceFirstSent(batch.last, at: now)
        selection.willSend(batch, at: now)
        pace.willSend(past: batch.past.count, at: now)
        var exchange = UploadExchange(batch, with: token, at: now, patience: patience)
        if hasNewer { exchange.newerPositionWaits(at: now) }
        phase = .exchanging(exchange)
        return UploadStep(
            .send(batch, token, secondsSinceFirstSent: secondsSinceFirstSent), reporting: [.uploading(batch)])
    }

    /// The provider is asked again soon at first, then as rarely as on any hold.
    private mutating func noToken(_ error: AuthorizationError, jitter: () -> Double) -> UploadStep {
        guard !isCancelled, let since = phase.tokenSought else { return finish() }
        missingTokens += 1
        let delay = retry.delay(beforeRetry: missingTokens, jitter: jitter(), after: error.retryAfter)
        let spacing = retry.spacing(after: now - since)
        return backOff(
            max(delay, spacing), networkEndsAfter: error.retryAfter == nil ? spacing : nil, because: "\(error)"
        ).after(.noToken(error))
    }

    private mutating func unanswered(_ error: HTTPTransportError, jitter: () -> Double) -> UploadStep {
        guard !isCancelled, case .exchanging(let exchange) = phase else { return finish() }
        guard let reason = exchange.excuse, error.code == .cancelled || reason == .networkChanged else {
            return answered(UploadOutcome(of: error), error.traffic, jitter: jitter)
        }
        switch reason {
        case .networkChanged: batchSize.startAgain()
        case .newerPosition:
            patience.aborted()
            batchSize.aborted(past: exchange.batch.past.count)
        }
        let words: ReportedText = "\(settings.endpoint.origin): \(reason.rawValue)\(error.routeInBrackets)"
        return goOn(after: now - exchange.startedAt, because: words)
            .after(.failed(.unreachable(reason: words), traffic: error.traffic))
    }

    private mutating func answered(
        _ answer: UploadOutcome, _ traffic: HTTPTraffic, jitter: () -> Double
    ) -> UploadStep {
        guard case .exchanging(let exchange) = phase else { return finish() }
        var outcome = answer
        // A server that has rejected one update after another is not to be given the rest.
        if case .rejected(let reason) = answer, rejectsEverything {
            outcome = .hold(
                reason: """
                    \(reason); it rejects one update after another, so that something else is wrong: check \
                    vehicle.service and upload.endpoint, and whether there is a newer release of Waypost
                    """)
        }
        let report =
            outcome == .delivered
            ? ReportingEvent.delivered(exchange.batch, traffic: traffic, took: now - exchange.startedAt)
            : .failed(outcome, traffic: traffic)
        return conclude(exchange, outcome, jitter: jitter()).after(report)
    }

    private mutating func conclude(_ exchange: UploadExchange, _ outcome: UploadOutcome, jitter: Double) -> UploadStep {
        let (batch, took, reason) = (exchange.batch, now - exchange.startedAt, outcome.reason)
        missingTokens = 0
        if case .hold = outcome {} else { holds = 0 }
        switch outcome {
        case .delivered:
            (failures, outboxFailures, rejections, hasRenewedToken) = (0, 0, 0, false)
            if taken?.update != batch.last { taken = (batch.last, exchange.startedAt) }
            batchSize.delivered(past: batch.past.count, took: took)
            patience.delivered(after: took)
            pace.delivered()
            selection.didDeliver(batch, at: now)
            contents.deliver(batch)
            return batch.pending.isEmpty ? readOutbox() : tell(.acknowledge(batch), because: reason)
        case .tokenRefused where hasRenewedToken:
            batchSize.held()
            return tell(.discardToken(exchange.token), backOff: retry.holdDelay(jitter: jitter), because: reason)
        case .tokenRefused:
            hasRenewedToken = true
            return tell(.discardToken(exchange.token), because: reason)
        case .intercepted(_, forSize: true) where makesSmaller(batch): return readOutbox()
        case .retry, .intercepted: batchSize.startAgain()
        case .throttled: break
        case .unreachable: batchSize.unanswered(past: batch.past.count)
        case .hold:
            batchSize.held()
            if rejectsEverything, !batch.past.isEmpty {
                // Perhaps it takes the newest: that goes without the older ones, which wait.
                pace.holdPast(for: retry.holdDelay(jitter: jitter), at: now)
                return goOn(after: took, because: reason)
            }
        case .rejected:
            hasRenewedToken = false
            return rejected(batch, reason: reason)
        }
        return backOff(after: outcome, took: took, jitter: jitter)
    }

    /// Waits as `outcome` asks for, of a request that took so long and did not arrive.
    private mutating func backOff(after outcome: UploadOutcome, took: Duration, jitter: Double) -> UploadStep {
        let (spacing, reason) = (retry.spacing(after: took), outcome.reason)
        switch outcome {
        case .tokenRefused: return backOff(retry.holdDelay(jitter: jitter), because: reason)
        case .hold:
            holds += 1
            return backOff(retry.absenceDelay(beforeProbe: holds, jitter: jitter), because: reason)
        case .retry(_, let after):
            failures += 1
            let delay = retry.delay(beforeRetry: failures, jitter: jitter, after: after)
            return backOff(max(delay, spacing), because: reason)
        case .throttled(_, let after):
            failures += 1
            pace.throttled(at: now)
            let delay = retry.delay(beforeRetry: failures, jitter: jitter, after: after)
            return backOff(max(delay, pace.timeToUpload(at: now)), because: reason)
        case .unreachable:
            failures += 1
            let delay = retry.unreachableDelay(beforeRetry: failures, took: took, jitter: jitter)
            return backOff(max(delay, spacing), networkEndsAfter: spacing, because: reason)
        case .intercepted, .delivered, .rejected:
            failures += 1
            let delay = retry.delay(beforeRetry: failures, jitter: jitter)
            return backOff(max(delay, spacing), networkEndsAfter: spacing, because: reason)
        }
    }

    /// Halves until the one update is found that the server does not take; that one is quarantined.
    private mutating func rejected(_ batch: UploadBatch, reason: ReportedText) -> UploadStep {
        if makesSmaller(batch) { return readOutbox() }
        rejections += 1
        batchSize.foundRejectedUpdate()
        if let alone = batch.pending.first {
            contents = .unknown
            return tell(.quarantine(alone, reason: reason), because: reason)
        }
        selection.didReject(batch, at: now)
        return readOutbox()
    }

    /// Lets the next batch be smaller than `batch`, if there is a smaller one.
    private mutating func makesSmaller(_ batch: UploadBatch) -> Bool {
        if batch.pending.count > 1 {
            // Alone, the newest needs no past location; a repeated newest still carries one older update.
            batchSize.rejected(past: batch.past.count, least: batch.lastIsPending ? 0 : 1)
            return true
        }
        // One from memory leads, and may be what is not taken: it goes alone first.
        guard privacy == .open, !batch.pending.isEmpty, batch.stored == nil, batch.last != taken?.update else {
            return false
        }
        batchSize.rejected(past: 1, least: 0)
        return true
    }

    private var rejectsEverything: Bool { rejections >= Self.mostRejections }

    /// At once, but within the least time between attempts.
    private mutating func goOn(after took: Duration, because reason: ReportedText) -> UploadStep {
        let spacing = retry.spacing(after: took)
        return spacing > .zero ? backOff(spacing, because: reason) : readOutbox()
    }

    private mutating func tell(
        _ action: UploadAction, backOff: Duration? = nil, because reason: ReportedText
    ) -> UploadStep {
        phase = .telling(backOff: backOff, because: reason)
        return UploadStep(action)
    }

    private mutating func told() -> UploadStep {
        guard case .telling(let delay?, let reason) = phase else { return readOutbox() }
        return backOff(delay, because: reason)
    }
}
