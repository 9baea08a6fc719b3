package import FleetEngine

/// The uploader's decisions: from an outcome to what happens next. Pure; the uploader only carries the actions out.
package struct UploadDecisions: Sendable {
    private let maximumPastLocations: Int
    private let retry: RetryPolicy
    /// Failed attempts since the last success. What holds delivery is none: a refused token, a vehicle that is not
    /// there, a token that does not come.
    package private(set) var failures = 0
    /// How often in a row there was no token.
    private var missingTokens = 0
    /// How many past locations the next batch may carry: halved by refusals, doubled by successes.
    package private(set) var batchLimit: Int
    /// Whether a token was refused since the last success, so that those after it were new ones already.
    private var hasRenewedToken = false

    package init(maximumPastLocations: Int, retry: RetryPolicy) {
        (self.maximumPastLocations, self.retry, batchLimit) = (maximumPastLocations, retry, maximumPastLocations)
    }

    /// Decides after Fleet Engine's answer to `batch`; `jitter` is drawn from 0...1.
    package mutating func receive(_ outcome: UploadOutcome, to batch: UploadBatch, jitter: Double) -> UploadAction {
        missingTokens = 0
        switch outcome {
        case .delivered:
            (failures, hasRenewedToken) = (0, false)
            batchLimit = min(max(1, batchLimit * 2), maximumPastLocations)
            return .acknowledge
        case .tokenRefused:
            guard hasRenewedToken else {
                hasRenewedToken = true
                return .renewToken
            }
            return .waitForToken(retry.holdDelay(jitter: jitter))
        case .retry(_, let after):
            failures += 1
            return .wait(retry.delay(beforeRetry: failures, jitter: jitter, after: after))
        case .unreachable:
            failures += 1
            return .waitForNetwork(retry.unreachableDelay(beforeRetry: failures, jitter: jitter))
        case .hold:
            return .wait(retry.holdDelay(jitter: jitter))
        case .rejected:
            hasRenewedToken = false
            return afterRejection(of: batch)
        }
    }

    /// Decides when there is no token to send with: asked again soon at first, then as seldom as on any hold.
    package mutating func receiveNoToken(retryAfter: Duration?, jitter: Double) -> UploadAction {
        missingTokens += 1
        let delay = retry.delay(beforeRetry: missingTokens, jitter: jitter, after: retryAfter)
        return retryAfter == nil ? .waitForNetwork(delay) : .wait(delay)
    }

    /// The network has come back: what failed before says nothing about it.
    package mutating func networkReturned() { (failures, missingTokens) = (0, 0) }

    /// Decides when the outbox itself fails.
    package mutating func receiveOutboxFailure(jitter: Double) -> UploadAction {
        failures += 1
        return .wait(retry.delay(beforeRetry: failures, jitter: jitter))
    }

    /// Halves until the one update is found that the server does not take; that one is set aside.
    private mutating func afterRejection(of batch: UploadBatch) -> UploadAction {
        if batch.pending.count > 1 {
            // Alone, the newest needs no past location; a repeated newest still carries one older update.
            batchLimit = batch.lastIsPending ? batch.past.count / 2 : max(1, batch.past.count / 2)
            return .sendSmaller
        }
        guard let alone = batch.pending.first else { return .forget }
        batchLimit = max(1, batchLimit)  // behind a repeated newest, only past locations can deliver the rest
        return .quarantine(alone)
    }
}
