/// Waiting, reading the outbox, and what ends a wait.
extension UploadState {
    /// `minimum`: so many past locations, however few are sent otherwise.
    func request(minimum: Int = 0) -> BatchRequest {
        BatchRequest(
            maximumPastLocations: pace.holdsPast(at: now) ? 0 : max(minimum, batchSize.limit),
            withBacklog: pace.timeToBacklog(at: now) == .zero)
    }

    mutating func readOutbox(isPrepared: Bool = false, minimum: Int = 0) -> UploadStep {
        guard !end.isCancelled else { return finish() }
        news = News()
        selection.willRead(at: now)
        if privacy.owesOffline { return announceOffline() }
        let request = request(minimum: minimum)
        phase = .reading(request, isPrepared: isPrepared)
        return UploadStep(.readOutbox(request))
    }

    /// Goes on with what the outbox has answered beside its work; it is asked again if that is no longer all.
    mutating func goOn(with next: NextUpload?, for request: BatchRequest?) -> UploadStep {
        guard let next, let request, !news.isThere, !privacy.owesOffline, !end.isCancelled else { return readOutbox() }
        selection.willRead(at: now)
        return select(from: next, for: request, isPrepared: false)
    }

    /// The result of an upload has been noted.
    mutating func noted(_ next: NextUpload?, for request: BatchRequest?) -> UploadStep {
        goOn(with: next, for: request)
    }

    /// The outbox has a newer update.
    mutating func accepted(_ next: NextUpload?) -> UploadStep {
        let request = news.request
        news.request = nil
        guard case .awaitingNews = phase, next != nil, request != nil else { return takeNews(isNewer: true) }
        privacy.takeNewer()
        return goOn(with: next, for: request)
    }

    mutating func select(from next: NextUpload, for request: BatchRequest, isPrepared: Bool) -> UploadStep {
        news.isOutboxEmpty = next.batch == nil
        let isPaced = !request.withBacklog
        let limit = request.maximumPastLocations
        let pending = isPaced && next.batch?.pending.isEmpty == true ? nil : next.batch
        let newest = next.batch?.stored ?? (end.whenEmpty ? nil : next.newest)
        let selected = selection.batch(
            pending: pending, newest: newest, maximumPastLocations: isPaced ? 0 : limit, at: now)
        if let undecodable, selected?.last == undecodable, !end.whenEmpty {
            selection.postponeHeartbeat(at: now)
            return awaitNews(for: nil)
        }
        if let selected, privacy.allows(selected, isLast: end.whenEmpty) {
            return attempt(selected, isPrepared: isPrepared)
        }
        let isPending = next.batch != nil
        if limit == 0, isPending, privacy.allowsBacklog(isLast: end.whenEmpty), !pace.holdsPast(at: now) {
            // A position that must not be repeated alone may lead a pending one.
            return readOutbox(isPrepared: isPrepared, minimum: 1)
        }
        if isPaced, isPending { return awaitNews(for: pace.timeToBacklog(at: now)) }
        if news.isThere { return readOutbox() }  // accepted while it was read
        let step = end.whenEmpty ? finish() : awaitNews(for: nil)
        guard !isIdle else { return step }
        isIdle = true
        return step.after(.idle)
    }

    private mutating func attempt(_ batch: UploadBatch, isPrepared: Bool) -> UploadStep {
        guard !end.isCancelled else { return finish() }
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
        if privacy == .open, case .reading(let request, let isPrepared) = phase,
            let batch = selection.batch(
                pending: nil, newest: nil, maximumPastLocations: request.maximumPastLocations, at: now)
        {
            return attempt(batch, isPrepared: isPrepared)
        }
        streaks.outboxFailures += 1
        let delay = retry.delay(beforeRetry: streaks.outboxFailures, jitter: jitter())
        return awaitNews(for: delay).after(.outboxFailed(error), .waiting(delay: delay))
    }

    /// Waits for `delay`, or until there is something to send; without `delay`, for as long as that takes.
    private mutating func awaitNews(for delay: Duration?) -> UploadStep {
        guard !news.isThere else { return readOutbox() }
        guard !end.isCancelled else { return finish() }
        phase = .awaitingNews(until: delay.map { now + $0 })
        return UploadStep(.wait)
    }

    /// Waits for `delay`, or until the network returns; but then for `spacing` in any case, so that however soon it
    /// returns, no two attempts begin within the least time between them.
    mutating func backOff(_ delay: Duration, networkEndsAfter spacing: Duration? = nil) -> UploadStep {
        guard !end.isCancelled else { return finish() }
        phase = .backingOff(until: now + delay, networkEndsAt: spacing.map { now + $0 })
        return UploadStep(.wait, reporting: [.waiting(delay: delay)])
    }

    mutating func takeNews(isNewer: Bool) -> UploadStep {
        news.isThere = true
        if isNewer {
            news.isNewer = true
            privacy.takeNewer()
        }
        switch phase {
        case .awaitingNews: return readOutbox()
        case .exchanging(var exchange) where news.isNewer:
            exchange.newerPositionWaits(at: now)
            phase = .exchanging(exchange)
        default: break
        }
        return UploadStep()
    }

    /// Before anything else goes out, the service hears that the vehicle is offline.
    private mutating func announceOffline() -> UploadStep {
        let rest = pace.timeToUpload(at: now)
        guard rest == .zero else { return awaitNews(for: rest) }
        phase = .announcing(since: now)
        return UploadStep(.announce(.offline))
    }

    mutating func announced(_ outcome: DeliveryOutcome, since: Duration, jitter: Double) -> UploadStep {
        guard !end.isCancelled else { return finish() }
        streaks.missingPermits = 0
        if case .held = outcome {} else { streaks.holds = 0 }
        switch outcome {
        case .delivered, .rejected:
            if outcome == .delivered { streaks.failures = 0 }
            if privacy.owesOffline { privacy = .inForce(owesOffline: false) }
            return readOutbox()
        default: return backOff(after: outcome, took: now - since, jitter: jitter)
        }
    }

    /// What failed before says nothing about the network that comes back.
    mutating func networkReturning() {
        streaks.failures = 0
        streaks.missingPermits = 0
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
        end.isCancelled = true
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
