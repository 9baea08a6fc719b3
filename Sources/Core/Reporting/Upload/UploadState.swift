/// All that the upload loop knows, and every decision of it: an event goes in, one action comes out. Pure.
///
/// One thing is in progress at a time: the outbox is read, a permit asked for, a batch sent, its result noted in the
/// outbox; or the loop waits for something to send, or until `dueAt`, when `.timeReached` is due.
struct UploadState: Sendable {
    enum Phase {
        case stopped
        /// The outbox is read for so many past locations; `isPaced`: not for the backlog, for it is not yet its time.
        /// `isPrepared`: there is a permit already.
        case reading(limit: Int, isPaced: Bool, isPrepared: Bool)
        case preparing(UploadBatch, since: Duration)
        case exchanging(UploadExchange)
        /// The outbox notes the result of the exchange.
        case noting
        case announcing(since: Duration)
        /// For something to send, or for a time.
        case awaitingNews(until: Duration?)
        /// For a time alone; or from `networkEndsAt` on for the network.
        case backingOff(until: Duration, networkEndsAt: Duration?)

        /// Since when a permit is being asked for.
        var preparedSince: Duration? {
            switch self {
            case .preparing(_, let since), .announcing(let since): since
            default: nil
            }
        }
    }

    /// After so many rejected one by one, and none taken between, it is not the updates.
    static let mostRejections = 3
    /// What was accepted while a permit took longer than this goes out with it.
    static let quickPreparation = Duration.milliseconds(100)
    /// After a failure, an exchange without an answer for so long is likely to fail as well.
    static let quickRecovery = Duration.seconds(1)

    let settings: UploadSettings
    /// Whether the service shows a presence.
    let hasPresence: Bool
    var retry: RetryPolicy { settings.retry }
    /// When the last event came.
    var now: Duration
    var phase = Phase.stopped
    var selection: UploadSelection
    var batchSize: BatchSize
    var patience: UploadPatience
    var pace: UploadPace
    var contents = OutboxContents.unknown
    /// Whether there may be something to send that was not there when the outbox was read last.
    var hasNews = false
    /// Whether that is a newer position.
    var hasNewer = false
    /// Whether it was told last that there is nothing to send.
    var isIdle = false
    var finishesWhenEmpty = false
    var isCancelled = false
    var privacy: UploadPrivacy

    /// Failed attempts since the last success. What holds delivery doesn't count: a rejected permit, a vehicle that
    /// doesn't exist, a permit that doesn't come.
    var failures = 0
    /// How often the outbox failed since then.
    var outboxFailures = 0
    /// How often in a row there was no permit.
    var missingPermits = 0
    /// How often in a row delivery was put on hold.
    var holds = 0
    /// How many updates were rejected for good since the last success.
    var rejections = 0
    /// Whether a permit was rejected since the last success, so that those after it were new ones already.
    var hasPreparedAgain = false
    /// The position that led the last upload that was taken, and when the first one began: it is not what another is
    /// rejected for.
    var taken: (update: LocationUpdate, startedAt: Duration)?

    /// The position whose answer could not be decoded. It may have arrived, so it isn't sent again.
    var undecodable: LocationUpdate?

    /// `now`: the heartbeat counts from here until something is delivered.
    init(
        _ settings: UploadSettings, hasPresence: Bool = true, privacy: UploadPrivacy = .open, at now: Duration
    ) {
        self.settings = settings
        self.hasPresence = hasPresence
        self.privacy = privacy
        self.now = now
        selection = UploadSelection(heartbeat: settings.heartbeat, at: now)
        batchSize = BatchSize(maximum: settings.maximumPastLocations)
        patience = UploadPatience(maximum: settings.timeLimit)
        pace = UploadPace(backlogUpdatesPerSecond: settings.backlogUpdatesPerSecond)
    }

    /// The presence that goes with an update.
    var presence: Presence { privacy.presence(settings.presence) }

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
        case .networkReturning:
            networkReturning()
            return UploadStep()
        case .networkReturned: return networkReturned()
        case .privateModeBegan:
            privacy = .inForce(owesOffline: hasPresence)
            return takeNews(isNewer: false)
        case .privateModeEnded(let mayBePrivate):
            privacy.end(mayBePrivate: mayBePrivate)
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
        case .prepared: return prepared()
        case .notPrepared(let fault): return notPrepared(fault, jitter: jitter)
        case .answered(let result): return answered(result, jitter: jitter)
        case .noted: return readOutbox()
        case .announced(let outcome): return announced(outcome, jitter: jitter())
        }
    }
}

/// Waiting, reading the outbox, and what ends a wait.
extension UploadState {
    /// `least`: so many past locations, however few are sent otherwise.
    mutating func readOutbox(isPrepared: Bool = false, least: Int = 0) -> UploadStep {
        guard !isCancelled else { return finish() }
        (hasNews, hasNewer) = (false, false)
        selection.willRead(at: now)
        if privacy.owesOffline { return announceOffline() }
        let isPaced = pace.timeToBacklog(at: now) > .zero
        let limit = pace.holdsPast(at: now) ? 0 : max(least, batchSize.limit)
        phase = .reading(limit: limit, isPaced: isPaced, isPrepared: isPrepared)
        if let known = contents.answer(maximumPastLocations: limit, at: now) {
            return select(from: known.batch, newest: finishesWhenEmpty ? nil : known.newest)
        }
        return UploadStep(
            .readOutbox(maximumPastLocations: limit, withBacklog: !isPaced, orNewest: !finishesWhenEmpty))
    }

    mutating func select(from batch: UploadBatch?, newest: StoredUpdate?) -> UploadStep {
        guard case .reading(let limit, let isPaced, let isPrepared) = phase else { return UploadStep() }
        let pending = isPaced && batch?.pending.isEmpty == true ? nil : batch
        let selected = selection.batch(
            pending: pending, newest: batch?.stored ?? newest, maximumPastLocations: isPaced ? 0 : limit, at: now)
        if let undecodable, selected?.last == undecodable, !finishesWhenEmpty {
            selection.postponeHeartbeat(at: now)
            return awaitNews(for: nil)
        }
        if let selected, privacy.allows(selected, isLast: finishesWhenEmpty) {
            return attempt(selected, isPrepared: isPrepared)
        }
        if limit == 0, batch != nil, privacy.allowsBacklog(isLast: finishesWhenEmpty), !pace.holdsPast(at: now) {
            // What is not to be repeated alone may be in front of one that waits.
            return readOutbox(isPrepared: isPrepared, least: 1)
        }
        if isPaced, batch != nil { return awaitNews(for: pace.timeToBacklog(at: now)) }
        if hasNews { return readOutbox() }  // accepted while it was read
        let step = finishesWhenEmpty ? finish() : awaitNews(for: nil)
        guard !isIdle else { return step }
        isIdle = true
        return step.after(.idle)
    }

    mutating func attempt(_ batch: UploadBatch, isPrepared: Bool) -> UploadStep {
        guard !isCancelled else { return finish() }
        let rest = pace.timeToUpload(at: now)
        guard rest == .zero else { return awaitNews(for: rest) }
        isIdle = false
        if isPrepared { return send(batch) }
        phase = .preparing(batch, since: now)
        return UploadStep(.prepare)
    }

    /// While the outbox fails, a position in memory goes out alone; otherwise it is asked again after a while, sooner
    /// when there is something to send from memory.
    mutating func outboxFailed(_ error: OutboxError, jitter: () -> Double) -> UploadStep {
        contents = .unknown
        if privacy == .open, case .reading(let limit, _, let isPrepared) = phase,
            let batch = selection.batch(pending: nil, newest: nil, maximumPastLocations: limit, at: now)
        {
            return attempt(batch, isPrepared: isPrepared)
        }
        outboxFailures += 1
        let delay = retry.delay(beforeRetry: outboxFailures, jitter: jitter())
        return awaitNews(for: delay).after(
            .outboxFailed(error), .waiting(delay: delay))
    }

    /// Waits for `delay`, or until there is something to send; without `delay`, for as long as that takes.
    mutating func awaitNews(for delay: Duration?) -> UploadStep {
        guard !hasNews else { return readOutbox() }
        guard !isCancelled else { return finish() }
        phase = .awaitingNews(until: delay.map { now + $0 })
        return UploadStep(.wait)
    }

    /// Waits for `delay`, or until the network returns; but then for `spacing` in any case, so that however soon it
    /// returns, no two attempts begin within the least time between them.
    mutating func backOff(_ delay: Duration, networkEndsAfter spacing: Duration? = nil) -> UploadStep {
        guard !isCancelled else { return finish() }
        phase = .backingOff(until: now + delay, networkEndsAt: spacing.map { now + $0 })
        return UploadStep(.wait, reporting: [.waiting(delay: delay)])
    }

    mutating func takeNews(isNewer: Bool) -> UploadStep {
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

    /// Before anything else goes out, the service hears that the vehicle is offline.
    mutating func announceOffline() -> UploadStep {
        let rest = pace.timeToUpload(at: now)
        guard rest == .zero else { return awaitNews(for: rest) }
        phase = .announcing(since: now)
        return UploadStep(.announce(.offline))
    }

    mutating func announced(_ outcome: DeliveryOutcome, jitter: Double) -> UploadStep {
        guard !isCancelled, case .announcing(let since) = phase else { return finish() }
        missingPermits = 0
        if case .held = outcome {} else { holds = 0 }
        switch outcome {
        case .delivered, .rejected:
            if outcome == .delivered { failures = 0 }
            if privacy.owesOffline { privacy = .inForce(owesOffline: false) }
            return readOutbox()
        default: return backOff(after: outcome, took: now - since, jitter: jitter)
        }
    }

    /// What failed before says nothing about the network that has come back.
    mutating func networkReturning() {
        failures = 0
        missingPermits = 0
        patience.startAgain()
        guard case .exchanging(var exchange) = phase else { return }
        exchange.networkReturned(at: now)
        phase = .exchanging(exchange)
    }

    mutating func networkReturned() -> UploadStep {
        if case .backingOff(let end, let networkEndsAt?) = phase {
            phase = .backingOff(until: min(end, max(networkEndsAt, now)), networkEndsAt: nil)
        }
        return timeReached()
    }

    mutating func timeReached() -> UploadStep {
        guard let dueAt, dueAt <= now else { return UploadStep() }
        guard case .exchanging(var exchange) = phase else { return readOutbox() }
        exchange.abort()
        phase = .exchanging(exchange)
        return UploadStep(.abortExchange)
    }

    /// A wait ends at once. What is in progress is cancelled with the task; an answer that comes nevertheless counts.
    mutating func cancel() -> UploadStep {
        isCancelled = true
        switch phase {
        case .stopped, .awaitingNews, .backingOff: return finish()
        default: return UploadStep()
        }
    }

    mutating func finish() -> UploadStep {
        phase = .stopped
        return UploadStep(.finish)
    }
}
