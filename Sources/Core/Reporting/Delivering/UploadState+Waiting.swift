/// The steps that read the outbox, wait, and handle the events that end a wait. Each function that returns an
/// `UploadStep` returns the next action and the reports to the observer.
extension UploadState {
    /// Returns a request that allows at least `minimum` past locations, unless the pace delays all of them.
    func batchRequest(minimum: Int = 0) -> BatchRequest {
        BatchRequest(
            maximumPastLocations: pace.delaysPastLocations(at: now) ? 0 : max(minimum, batchSize.limit),
            withBacklog: pace.timeUntilBacklog(at: now) == .zero)
    }

    mutating func readOutbox(isPrepared: Bool = false, minimum: Int = 0) -> UploadStep {
        guard !termination.isCancelled else { return finish() }
        arrivals = Arrivals()
        selection.willRead(at: now)
        if privacy.isOfflinePending { return announceOffline() }
        let request = batchRequest(minimum: minimum)
        phase = .reading(request, isPrepared: isPrepared)
        return UploadStep(.readOutbox(request))
    }

    /// Returns the step that follows `next`, the contents returned by an append or an acknowledgement. If `next` is
    /// `nil`, or if more updates have arrived since, the step reads the outbox instead.
    mutating func proceed(with next: NextUpload?, for request: BatchRequest?) -> UploadStep {
        let isCurrent = !arrivals.hasAny && !privacy.isOfflinePending && !termination.isCancelled
        guard isCurrent, let next, let request else { return readOutbox() }
        selection.willRead(at: now)
        return selectBatch(from: next, for: request, isPrepared: false)
    }

    /// Handles the event that the outbox has stored a newer update. Returns the next step.
    mutating func didStoreUpdate(_ next: NextUpload?) -> UploadStep {
        let request = arrivals.appendRequest
        arrivals.appendRequest = nil
        guard case .idle = phase, next != nil, request != nil else { return handleArrival(isNewerPosition: true) }
        privacy.recordNewerPosition()
        return proceed(with: next, for: request)
    }

    mutating func selectBatch(from next: NextUpload, for request: BatchRequest, isPrepared: Bool) -> UploadStep {
        arrivals.isOutboxEmpty = next.batch == nil
        let isPaced = !request.withBacklog
        let limit = request.maximumPastLocations
        let pending = isPaced && next.batch?.pending.isEmpty == true ? nil : next.batch
        let newest = next.batch?.stored ?? (termination.endsWhenEmpty ? nil : next.newest)
        let selected = selection.batch(
            pending: pending, newest: newest, maximumPastLocations: isPaced ? 0 : limit, at: now)
        if let undecodable = leaders.undecodable, selected?.last == undecodable, !termination.endsWhenEmpty {
            selection.postponeHeartbeat(at: now)
            return idle(for: nil)
        }
        if let selected, privacy.allows(selected, isLast: termination.endsWhenEmpty) {
            return prepareOrSend(selected, isPrepared: isPrepared)
        }
        let isPending = next.batch != nil
        if limit == 0, isPending, privacy.allowsBacklog(isLast: termination.endsWhenEmpty),
            !pace.delaysPastLocations(at: now)
        {
            // A position that must not be repeated alone may still lead a batch that contains a pending update.
            return readOutbox(isPrepared: isPrepared, minimum: 1)
        }
        if isPaced, isPending { return idle(for: pace.timeUntilBacklog(at: now)) }
        if arrivals.hasAny { return readOutbox() }  // arrived while the outbox was read
        let step = termination.endsWhenEmpty ? finish() : idle(for: nil)
        guard !hasReportedIdle else { return step }
        hasReportedIdle = true
        return step.reportingFirst(.idle)
    }

    private mutating func prepareOrSend(_ batch: UploadBatch, isPrepared: Bool) -> UploadStep {
        guard !termination.isCancelled else { return finish() }
        let rest = pace.timeUntilUpload(at: now)
        guard rest == .zero else { return idle(for: rest) }
        hasReportedIdle = false
        if isPrepared { return send(batch) }
        phase = .preparing(batch, since: now)
        return UploadStep(.prepare)
    }

    /// Returns a step that sends a position from memory, if there is one to send. Otherwise the step waits before using
    /// the outbox again. A position that arrives in memory ends this wait.
    mutating func handleOutboxFailure(_ error: OutboxError, jitter: () -> Double) -> UploadStep {
        if privacy == .off, case .reading(let request, let isPrepared) = phase,
            let batch = selection.batch(
                pending: nil, newest: nil, maximumPastLocations: request.maximumPastLocations, at: now)
        {
            return prepareOrSend(batch, isPrepared: isPrepared)
        }
        streaks.outboxFailures += 1
        let delay = retry.delay(beforeRetry: streaks.outboxFailures, jitter: jitter())
        return idle(for: delay).reportingFirst(.outboxFailed(error), .waiting(delay: delay))
    }

    /// Returns a step that waits until there is something to send, but no longer than `delay`.
    private mutating func idle(for delay: Duration?) -> UploadStep {
        guard !arrivals.hasAny else { return readOutbox() }
        guard !termination.isCancelled else { return finish() }
        phase = .idle(until: delay.map { now + $0 })
        return UploadStep(.wait)
    }

    /// Returns a step that waits for `delay`. If `spacing` is given, the network's return ends the wait early, but not
    /// before `spacing` has passed, because that is the minimum time between two attempts.
    mutating func backOff(_ delay: Duration, networkEndsAfter spacing: Duration? = nil) -> UploadStep {
        guard !termination.isCancelled else { return finish() }
        phase = .backingOff(until: now + delay, networkEndsAt: spacing.map { now + $0 })
        return UploadStep(.wait, reporting: [.waiting(delay: delay)])
    }

    mutating func handleArrival(isNewerPosition: Bool) -> UploadStep {
        arrivals.hasAny = true
        if isNewerPosition {
            arrivals.hasNewerPosition = true
            privacy.recordNewerPosition()
        }
        switch phase {
        case .idle: return readOutbox()
        case .exchanging(var exchange) where arrivals.hasNewerPosition:
            exchange.recordNewerPosition(at: now)
            phase = .exchanging(exchange)
        default: break
        }
        return UploadStep()
    }

    /// Returns a step that reports that the vehicle is offline, before anything else is sent.
    private mutating func announceOffline() -> UploadStep {
        let rest = pace.timeUntilUpload(at: now)
        guard rest == .zero else { return idle(for: rest) }
        phase = .announcing(since: now)
        return UploadStep(.announce(.offline))
    }

    mutating func didAnnounce(_ outcome: DeliveryOutcome, since: Duration, jitter: Double) -> UploadStep {
        guard !termination.isCancelled else { return finish() }
        streaks.missingPermits = 0
        if case .held = outcome {} else { streaks.holds = 0 }
        switch outcome {
        case .delivered, .rejected:
            if outcome == .delivered { streaks.failures = 0 }
            if privacy.isOfflinePending { privacy = .on(isOfflinePending: false) }
            return readOutbox()
        default: return backOff(after: outcome, took: now - since, jitter: jitter)
        }
    }

    /// Forgets earlier failures, because they say nothing about the network that is returning.
    mutating func forgetFailures() {
        streaks.failures = 0
        streaks.missingPermits = 0
        newerPositionTimeout.reset()
        guard case .exchanging(var exchange) = phase else { return }
        exchange.recordNetworkReturn(at: now)
        phase = .exchanging(exchange)
    }

    mutating func endNetworkWait() -> UploadStep {
        if case .backingOff(let end, let networkEndsAt?) = phase {
            phase = .backingOff(until: min(end, max(networkEndsAt, now)), networkEndsAt: nil)
        }
        return handleTimeReached()
    }

    mutating func handleTimeReached() -> UploadStep {
        guard let dueAt, dueAt <= now else { return UploadStep() }
        guard case .exchanging(var exchange) = phase else { return readOutbox() }
        exchange.abort()
        phase = .exchanging(exchange)
        return UploadStep(.abortExchange)
    }

    /// Stops the lane at once if it is waiting, and returns the last step. An action in progress is cancelled with its
    /// task, but an answer that has already arrived is still used.
    mutating func cancel() -> UploadStep {
        termination.isCancelled = true
        switch phase {
        case .stopped, .idle, .backingOff: return finish()
        default: return UploadStep()
        }
    }

    mutating func finish() -> UploadStep {
        phase = .stopped
        return UploadStep(.finish)
    }
}
