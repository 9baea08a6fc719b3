import ReportedText

/// The steps that obtain a permit, send a batch, and act on the answer. Each function returns the next action and the
/// reports to the observer.
extension UploadState {
    mutating func didPrepare(for batch: UploadBatch, since: Duration) -> UploadStep {
        guard !termination.isCancelled else { return finish() }
        if privacy.isOfflinePending || !privacy.allows(batch, isLast: termination.endsWhenEmpty) {
            return readOutbox(isPrepared: true)
        }
        // A newer position may have been accepted during a long wait for the permit. It leads this upload, instead of
        // the next.
        let isOutdated = arrivals.hasNewerPosition && now - since > Self.preparationTimeLimit
        return isOutdated ? readOutbox(isPrepared: true) : send(batch)
    }

    mutating func send(_ batch: UploadBatch) -> UploadStep {
        let secondsSinceFirstSent = selection.secondsSinceFirstSent(batch.last, at: now)
        selection.willSend(batch, at: now)
        pace.willSend(past: batch.past.count, at: now)
        var exchange = UploadExchange(batch, at: now, newerPositionTimeout: newerPositionTimeout)
        if arrivals.hasNewerPosition { exchange.recordNewerPosition(at: now) }
        phase = .exchanging(exchange)
        return UploadStep(.send(batch, secondsSinceFirstSent: secondsSinceFirstSent), reporting: [.uploading(batch)])
    }

    /// Handles a missing permit. Returns a step that waits before asking again. The wait is short at first, and grows
    /// with each failure.
    mutating func didNotPrepare(_ fault: DeliveryFault, since: Duration, jitter: () -> Double) -> UploadStep {
        guard !termination.isCancelled else { return finish() }
        streaks.missingPermits += 1
        var retryAfter: Duration?
        if case .noPermit(let missing) = fault { retryAfter = missing.retryAfter }
        let delay = retry.delay(beforeRetry: streaks.missingPermits, jitter: jitter(), requestedDelay: retryAfter)
        let spacing = retry.spacing(after: now - since)
        return backOff(max(delay, spacing), networkEndsAfter: retryAfter == nil ? spacing : nil)
            .reportingFirst(.notPrepared(fault))
    }

    mutating func didAnswer(
        _ exchange: UploadExchange, with result: DeliveryResult, jitter: () -> Double
    ) -> UploadStep {
        let took = now - exchange.startedAt
        if case .unanswered(let lost)? = result.outcome.fault {
            if termination.isCancelled { return finish() }
            if let reason = exchange.resendReason, lost.cause == .cancelled || reason == .networkChanged {
                return sendAgain(exchange, after: reason).reportingFirst(
                    .failed(.unanswered(.aborted(reason, lost)), traffic: result.traffic, took: took))
            }
        }
        var outcome = result.outcome
        // If a server rejects one update after another, it must not receive the rest, because all would be quarantined.
        if case .rejected(let fault) = outcome, streaks.rejectsEverything {
            outcome = .held(.everythingRejected(fault))
        }
        let step = conclude(exchange, with: outcome, jitter: jitter())
        guard outcome == .delivered else {
            return step.reportingFirst(.failed(outcome, traffic: result.traffic, took: took))
        }
        let delivered = step.reportingFirst(.delivered(exchange.batch, traffic: result.traffic, took: took))
        return result.serverTime.map { delivered.reportingFirst(.serverTime($0)) } ?? delivered
    }

    /// Returns a step that sends the batch again, after its exchange was aborted or the network changed during the
    /// exchange.
    private mutating func sendAgain(_ exchange: UploadExchange, after reason: AbortReason) -> UploadStep {
        switch reason {
        case .networkChanged: batchSize.forgetDeliveries()
        case .newerPosition:
            newerPositionTimeout.didAbort()
            batchSize.didAbort(past: exchange.batch.past.count)
        }
        return continueSoon(after: now - exchange.startedAt)
    }

    private mutating func conclude(
        _ exchange: UploadExchange, with outcome: DeliveryOutcome, jitter: Double
    ) -> UploadStep {
        let batch = exchange.batch
        let took = now - exchange.startedAt
        streaks.missingPermits = 0
        leaders.undecodable = nil
        if case .held = outcome {} else { streaks.holds = 0 }
        switch outcome {
        case .delivered: return didDeliver(exchange, took: took)
        case .prepareAgain where streaks.hasPreparedAgain: batchSize.startProbing()
        case .prepareAgain:
            streaks.hasPreparedAgain = true
            return readOutbox()
        case .tooLarge where shrinkNextBatch(below: batch): return readOutbox()
        case .retry, .intercepted, .tooLarge: batchSize.forgetDeliveries()
        case .throttled: break
        case .unanswered: batchSize.didGetNoAnswer(past: batch.past.count)
        case .held(let fault):
            batchSize.startProbing()
            if fault.isUndecodable { leaders.undecodable = batch.last }
            if streaks.rejectsEverything, !batch.past.isEmpty {
                // The newest position is sent without older ones, because the server may still accept it.
                pace.delayPastLocations(for: retry.holdDelay(jitter: jitter), at: now)
                return continueSoon(after: took)
            }
        case .rejected(let fault):
            streaks.hasPreparedAgain = false
            return didReject(batch, reason: fault.message)
        }
        return backOff(after: outcome, took: took, jitter: jitter)
    }

    private mutating func didDeliver(_ exchange: UploadExchange, took: Duration) -> UploadStep {
        let batch = exchange.batch
        streaks = Streaks()
        if leaders.delivered != batch.last {
            leaders.delivered = batch.last
            leaders.deliveredStartedAt = exchange.startedAt
        }
        batchSize.didDeliver(past: batch.past.count, took: took)
        newerPositionTimeout.didDeliver(after: took)
        pace.didDeliver()
        selection.didDeliver(batch, at: now)
        if batch.pending.isEmpty {
            guard arrivals.isOutboxEmpty, let newest = batch.stored else { return readOutbox() }
            return proceed(with: NextUpload(nil, newest: newest), for: batchRequest())  // the outbox is still empty
        }
        arrivals = Arrivals()
        let next = batchRequest()
        phase = .recordingResult(next: next)
        return UploadStep(.acknowledge(batch, next: next))
    }

    /// Returns a step that waits as `outcome` requires, after a request that lasted `took` and was not accepted.
    mutating func backOff(after outcome: DeliveryOutcome, took: Duration, jitter: Double) -> UploadStep {
        let spacing = retry.spacing(after: took)
        let interceptions = streaks.interceptions
        streaks.interceptions = 0
        switch outcome {
        case .prepareAgain: return backOff(retry.holdDelay(jitter: jitter))
        case .held:
            streaks.holds += 1
            return backOff(retry.delay(beforeProbe: streaks.holds, jitter: jitter))
        case .retry(_, let after):
            // The portal that intercepted the previous attempts seems to be gone, so their number no longer matters.
            if interceptions >= 3 { streaks.failures = 0 }
            streaks.failures += 1
            let delay = retry.delay(beforeRetry: streaks.failures, jitter: jitter, requestedDelay: after)
            return backOff(max(delay, spacing))
        case .throttled(_, let after):
            streaks.failures += 1
            pace.didThrottle(at: now)
            let delay = retry.delay(beforeRetry: streaks.failures, jitter: jitter, requestedDelay: after)
            return backOff(max(delay, pace.timeUntilUpload(at: now)))
        case .unanswered:
            streaks.failures += 1
            let delay = retry.unreachableDelay(beforeRetry: streaks.failures, took: took, jitter: jitter)
            return backOff(max(delay, spacing), networkEndsAfter: spacing)
        case .intercepted, .tooLarge, .delivered, .rejected:
            if case .intercepted = outcome { streaks.interceptions = interceptions + 1 }
            streaks.failures += 1
            let delay = retry.delay(beforeRetry: streaks.failures, jitter: jitter)
            return backOff(max(delay, spacing), networkEndsAfter: spacing)
        }
    }

    /// Handles a rejection. Returns a step that tries half of the rejected batch. Once only the rejected update is
    /// left, the step quarantines it.
    private mutating func didReject(_ batch: UploadBatch, reason: ReportedText) -> UploadStep {
        if shrinkNextBatch(below: batch) { return readOutbox() }
        streaks.rejections += 1
        batchSize.recordRejectedUpdate()
        if let alone = batch.pending.first {
            phase = .recordingResult(next: nil)
            return UploadStep(.quarantine(alone, reason: reason))
        }
        selection.didReject(batch, at: now)
        return readOutbox()
    }

    /// Makes the next batch smaller than `batch`. Returns `false` if no smaller batch is possible.
    private mutating func shrinkNextBatch(below batch: UploadBatch) -> Bool {
        if batch.pending.count > 1 {
            // If the newest update is pending, it can be sent alone. If it has been delivered before, at least one
            // older update must go with it, because otherwise nothing pending would be delivered.
            batchSize.didReject(past: batch.past.count, minimum: batch.lastIsPending ? 0 : 1)
            return true
        }
        // A position from memory leads the batch, and may be the one that the server rejects. It is sent alone first.
        guard privacy == .off, !batch.pending.isEmpty, batch.stored == nil, batch.last != leaders.delivered else {
            return false
        }
        batchSize.didReject(past: 1, minimum: 0)
        return true
    }

    /// Returns a step that reads the outbox again as soon as the minimum time between attempts has passed.
    private mutating func continueSoon(after took: Duration) -> UploadStep {
        let spacing = retry.spacing(after: took)
        return spacing > .zero ? backOff(spacing) : readOutbox()
    }
}

extension DeliveryFault {
    /// Whether an answer arrived but couldn't be decoded. The answer may have reported success.
    fileprivate var isUndecodable: Bool {
        if case .unanswered(let lost) = self { lost.cause == .undecodableAnswer } else { false }
    }
}
