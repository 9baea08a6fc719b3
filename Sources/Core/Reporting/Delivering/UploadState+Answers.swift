import ReportedText

/// From a permit to an answer, and what follows from that.
extension UploadState {
    mutating func prepared(for batch: UploadBatch, since: Duration) -> UploadStep {
        guard !end.isCancelled else { return finish() }
        if privacy.owesOffline || !privacy.allows(batch, isLast: end.whenEmpty) {
            return readOutbox(isPrepared: true)
        }
        // What was accepted during a long wait goes out in front of what waited, and not right behind it.
        return news.isNewer && now - since > Self.quickPreparation ? readOutbox(isPrepared: true) : send(batch)
    }

    mutating func send(_ batch: UploadBatch) -> UploadStep {
        let secondsSinceFirstSent = selection.secondsSinceFirstSent(batch.last, at: now)
        selection.willSend(batch, at: now)
        pace.willSend(past: batch.past.count, at: now)
        var exchange = UploadExchange(batch, at: now, patience: patience)
        if news.isNewer { exchange.newerPositionWaits(at: now) }
        phase = .exchanging(exchange)
        return UploadStep(.send(batch, secondsSinceFirstSent: secondsSinceFirstSent), reporting: [.uploading(batch)])
    }

    /// A permit is asked for again soon at first, then as rarely as on any hold.
    mutating func notPrepared(_ fault: DeliveryFault, since: Duration, jitter: () -> Double) -> UploadStep {
        guard !end.isCancelled else { return finish() }
        streaks.missingPermits += 1
        var retryAfter: Duration?
        if case .noPermit(let missing) = fault { retryAfter = missing.retryAfter }
        let delay = retry.delay(beforeRetry: streaks.missingPermits, jitter: jitter(), after: retryAfter)
        let spacing = retry.spacing(after: now - since)
        return backOff(max(delay, spacing), networkEndsAfter: retryAfter == nil ? spacing : nil)
            .after(.notPrepared(fault))
    }

    mutating func answered(
        _ exchange: UploadExchange, _ result: DeliveryResult, jitter: () -> Double
    ) -> UploadStep {
        let took = now - exchange.startedAt
        if case .unanswered(let lost)? = result.outcome.fault {
            if end.isCancelled { return finish() }
            if let reason = exchange.excuse, lost.cause == .cancelled || reason == .networkChanged {
                return sendAgain(exchange, after: reason, lost).after(
                    .failed(.unanswered(.aborted(reason, lost)), traffic: result.traffic, took: took))
            }
        }
        var outcome = result.outcome
        // A server that has rejected one update after another must not get the rest.
        if case .rejected(let fault) = outcome, streaks.rejectsEverything {
            outcome = .held(.everythingRejected(fault))
        }
        let step = conclude(exchange, outcome, jitter: jitter())
        guard outcome == .delivered else {
            return step.after(.failed(outcome, traffic: result.traffic, took: took))
        }
        let delivered = step.after(.delivered(exchange.batch, traffic: result.traffic, took: took))
        return result.serverTime.map { delivered.after(.serverTime($0)) } ?? delivered
    }

    /// An exchange that was aborted, or whose network is gone, is made again.
    private mutating func sendAgain(
        _ exchange: UploadExchange, after reason: AbortReason, _ lost: LostExchange
    ) -> UploadStep {
        switch reason {
        case .networkChanged: batchSize.startAgain()
        case .newerPosition:
            patience.aborted()
            batchSize.aborted(past: exchange.batch.past.count)
        }
        return goOn(after: now - exchange.startedAt)
    }

    private mutating func conclude(
        _ exchange: UploadExchange, _ outcome: DeliveryOutcome, jitter: Double
    ) -> UploadStep {
        let batch = exchange.batch
        let took = now - exchange.startedAt
        streaks.missingPermits = 0
        undecodable = nil
        if case .held = outcome {} else { streaks.holds = 0 }
        switch outcome {
        case .delivered: return delivered(exchange, took: took)
        case .prepareAgain where streaks.hasPreparedAgain: batchSize.held()
        case .prepareAgain:
            streaks.hasPreparedAgain = true
            return readOutbox()
        case .tooLarge where makesSmaller(batch): return readOutbox()
        case .retry, .intercepted, .tooLarge: batchSize.startAgain()
        case .throttled: break
        case .unanswered: batchSize.unanswered(past: batch.past.count)
        case .held(let fault):
            batchSize.held()
            if fault.isUndecodable { undecodable = batch.last }
            if streaks.rejectsEverything, !batch.past.isEmpty {
                // Perhaps it takes the newest: that goes without the older ones, which wait.
                pace.holdPast(for: retry.holdDelay(jitter: jitter), at: now)
                return goOn(after: took)
            }
        case .rejected(let fault):
            streaks.hasPreparedAgain = false
            return rejected(batch, reason: fault.message)
        }
        return backOff(after: outcome, took: took, jitter: jitter)
    }

    private mutating func delivered(_ exchange: UploadExchange, took: Duration) -> UploadStep {
        let batch = exchange.batch
        streaks = Streaks()
        if taken?.update != batch.last { taken = (batch.last, exchange.startedAt) }
        batchSize.delivered(past: batch.past.count, took: took)
        patience.delivered(after: took)
        pace.delivered()
        selection.didDeliver(batch, at: now)
        if batch.pending.isEmpty {
            guard news.isOutboxEmpty, let newest = batch.stored else { return readOutbox() }
            return goOn(with: NextUpload(nil, newest: newest), for: request())  // the outbox is still empty
        }
        news = News()
        let next = request()
        phase = .noting(next: next)
        return UploadStep(.acknowledge(batch, next: next))
    }

    /// Waits as `outcome` asks for, of a request that took `took` and did not arrive.
    mutating func backOff(after outcome: DeliveryOutcome, took: Duration, jitter: Double) -> UploadStep {
        let spacing = retry.spacing(after: took)
        switch outcome {
        case .prepareAgain: return backOff(retry.holdDelay(jitter: jitter))
        case .held:
            streaks.holds += 1
            return backOff(retry.absenceDelay(beforeProbe: streaks.holds, jitter: jitter))
        case .retry(_, let after):
            streaks.failures += 1
            let delay = retry.delay(beforeRetry: streaks.failures, jitter: jitter, after: after)
            return backOff(max(delay, spacing))
        case .throttled(_, let after):
            streaks.failures += 1
            pace.throttled(at: now)
            let delay = retry.delay(beforeRetry: streaks.failures, jitter: jitter, after: after)
            return backOff(max(delay, pace.timeToUpload(at: now)))
        case .unanswered:
            streaks.failures += 1
            let delay = retry.unreachableDelay(beforeRetry: streaks.failures, took: took, jitter: jitter)
            return backOff(max(delay, spacing), networkEndsAfter: spacing)
        case .intercepted, .tooLarge, .delivered, .rejected:
            streaks.failures += 1
            let delay = retry.delay(beforeRetry: streaks.failures, jitter: jitter)
            return backOff(max(delay, spacing), networkEndsAfter: spacing)
        }
    }

    /// Halves until the one update is found that the server does not take; that one is quarantined.
    private mutating func rejected(_ batch: UploadBatch, reason: ReportedText) -> UploadStep {
        if makesSmaller(batch) { return readOutbox() }
        streaks.rejections += 1
        batchSize.foundRejectedUpdate()
        if let alone = batch.pending.first {
            phase = .noting(next: nil)
            return UploadStep(.quarantine(alone, reason: reason))
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

    /// At once, but within the least time between attempts.
    private mutating func goOn(after took: Duration) -> UploadStep {
        let spacing = retry.spacing(after: took)
        return spacing > .zero ? backOff(spacing) : readOutbox()
    }
}

extension DeliveryFault {
    /// Whether an answer came that nobody can read: it may have been a success.
    fileprivate var isUndecodable: Bool {
        if case .unanswered(let lost) = self { lost.cause == .undecodableAnswer } else { false }
    }
}
