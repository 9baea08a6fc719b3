package import FleetEngine

/// The uploader's decisions: from an outcome to what happens next. Pure; the uploader only carries the actions out.
package struct UploadDecisions: Sendable {
    /// After so many refused one by one, and none taken between, it is not the updates.
    static let mostRefusals = 3

    private let retry: RetryPolicy
    /// How many past locations the next upload may carry.
    package private(set) var batchSize: BatchSize
    /// How soon it may go out.
    package private(set) var pace: UploadPace
    /// Failed attempts since the last success. What holds delivery is none: a refused token, a vehicle that is not
    /// there, a token that does not come.
    package private(set) var failures = 0
    /// How often the outbox failed since then.
    private var outboxFailures = 0
    /// How often in a row there was no token.
    private var missingTokens = 0
    /// How often in a row delivery was held for what only somebody else can mend.
    private var holds = 0
    /// How many updates were refused for good since the last success.
    private var refusals = 0
    /// Whether a token was refused since the last success, so that those after it were new ones already.
    private var hasRenewedToken = false
    /// The position that led the last upload that was taken: it is not what another is refused for.
    private var taken: LocationUpdate?

    /// `backlogUpdatesPerSecond`: `nil` sends a backlog as fast as answers come.
    package init(maximumPastLocations: Int, backlogUpdatesPerSecond: Double? = nil, retry: RetryPolicy) {
        self.retry = retry
        batchSize = BatchSize(maximum: maximumPastLocations)
        pace = UploadPace(backlogUpdatesPerSecond: backlogUpdatesPerSecond)
    }

    /// Notes that `batch` goes out at `now`.
    package mutating func willSend(_ batch: UploadBatch, at now: Duration) {
        pace.willSend(past: batch.past.count, at: now)
    }

    /// Decides at `now`, after the answer to `batch`, for which it `took` so long, with `outcome` as `interpreted`;
    /// `jitter` is drawn from 0...1.
    package mutating func receive(
        _ outcome: UploadOutcome, to batch: UploadBatch, at now: Duration, took: Duration, jitter: Double
    ) -> UploadAction {
        missingTokens = 0
        if !outcome.isHold { holds = 0 }
        switch outcome {
        case .delivered:
            (failures, outboxFailures, refusals, hasRenewedToken, taken) = (0, 0, 0, false, batch.last.update)
            batchSize.delivered(past: batch.past.count, took: took)
            pace.delivered()
            return .acknowledge
        case .tokenRefused:
            guard hasRenewedToken else {
                hasRenewedToken = true
                return .renewToken
            }
            batchSize.held()
            return .waitForToken(retry.holdDelay(jitter: jitter))
        case .retry(_, let after):
            fail()
            let delay = retry.delay(beforeRetry: failures, jitter: jitter, after: after)
            return .wait(max(delay, retry.spacing(after: took)))
        case .throttled(_, let after):
            failures += 1
            pace.throttled(at: now)
            let delay = retry.delay(beforeRetry: failures, jitter: jitter, after: after)
            return .wait(max(delay, pace.timeToUpload(at: now)))
        case .unreachable:
            failures += 1
            batchSize.unanswered(past: batch.past.count)
            return waitForNetwork(
                retry.unreachableDelay(beforeRetry: failures, took: took, jitter: jitter), after: took)
        case .intercepted:
            fail()
            return waitForNetwork(retry.delay(beforeRetry: failures, jitter: jitter), after: took)
        case .hold:
            batchSize.held()
            if refusesEverything, !batch.past.isEmpty {
                // Perhaps it takes the newest: that goes without the older ones, which wait.
                pace.holdBacklog(for: retry.holdDelay(jitter: jitter), at: now)
                return goOn(after: took)
            }
            holds += 1
            return .wait(retry.absenceDelay(beforeProbe: holds, jitter: jitter))
        case .rejected:
            hasRenewedToken = false
            return afterRejection(of: batch)
        }
    }

    /// Decides when there is no token to send with: asked again soon at first, then as seldom as on any hold.
    package mutating func receiveNoToken(retryAfter: Duration?, took: Duration, jitter: Double) -> UploadAction {
        missingTokens += 1
        let delay = retry.delay(beforeRetry: missingTokens, jitter: jitter, after: retryAfter)
        return retryAfter == nil
            ? waitForNetwork(delay, after: took) : .wait(max(delay, retry.spacing(after: took)))
    }

    /// Decides after `batch` was given up without an answer: at once again, for the way is another or a newer position
    /// waits; but within the least time between attempts.
    package mutating func giveUp(_ batch: UploadBatch, because reason: GivingUp, took: Duration) -> UploadAction {
        switch reason {
        case .networkChanged: batchSize.startAgain()
        case .newerPosition: batchSize.givenUp(past: batch.past.count)
        }
        return goOn(after: took)
    }

    /// What `outcome` means after those before it: a server that has refused one update after another is not to be
    /// given the rest; only somebody else can mend that.
    package func interpreted(_ outcome: UploadOutcome) -> UploadOutcome {
        if case .rejected(let reason) = outcome, refusesEverything { .hold(reason: reason) } else { outcome }
    }

    /// The network has come back: what failed before says nothing about it.
    package mutating func networkReturned() { (failures, missingTokens) = (0, 0) }

    /// Decides when the outbox itself fails.
    package mutating func receiveOutboxFailure(jitter: Double) -> UploadAction {
        outboxFailures += 1
        return .wait(retry.delay(beforeRetry: outboxFailures, jitter: jitter))
    }

    private var refusesEverything: Bool { refusals >= Self.mostRefusals }

    /// At once, but within the least time between attempts.
    private func goOn(after took: Duration) -> UploadAction {
        let least = retry.spacing(after: took)
        return least > .zero ? .wait(least) : .sendAgain
    }

    /// However soon the network returns, no two attempts begin within the least time between them.
    private func waitForNetwork(_ delay: Duration, after took: Duration) -> UploadAction {
        let least = retry.spacing(after: took)
        return .waitForNetwork(max(delay, least), atLeast: least)
    }

    private mutating func fail() {
        failures += 1
        batchSize.startAgain()
    }

    /// Halves until the one update is found that the server does not take; that one is set aside.
    private mutating func afterRejection(of batch: UploadBatch) -> UploadAction {
        if batch.pending.count > 1 {
            // Alone, the newest needs no past location; a repeated newest still carries one older update.
            batchSize.refused(past: batch.past.count, least: batch.lastIsPending ? 0 : 1)
            return .sendAgain
        }
        guard let alone = batch.pending.first else {
            foundRefusedUpdate()
            return .forget
        }
        if !batch.lastIsPending, batch.last.sequence == 0, batch.last.update != taken {
            // One from memory leads, and may be what is refused: it goes alone first.
            batchSize.refused(past: 1, least: 0)
            return .sendAgain
        }
        foundRefusedUpdate()
        return .quarantine(alone)
    }

    private mutating func foundRefusedUpdate() {
        refusals += 1
        batchSize.foundRefusedUpdate()
    }
}

/// What the uploader does after an answer.
package enum UploadAction: Sendable, Hashable {
    /// The batch is delivered: tell the outbox, and go on with the next.
    case acknowledge
    /// Send again at once; the batch may be a smaller one.
    case sendAgain
    /// Drop the token and send again at once with a new one.
    case renewToken
    /// Wait; nothing is lost meanwhile.
    case wait(Duration)
    /// Wait, but no longer than until the network comes back, nor shorter than `atLeast`.
    case waitForNetwork(Duration, atLeast: Duration)
    /// Drop the token, and wait before the next probe, which begins with a new one.
    case waitForToken(Duration)
    /// Set this one update aside: the server will never take it.
    case quarantine(StoredUpdate)
    /// A repetition or an unstored update was refused: forget it.
    case forget
}

/// Why an upload under way is given up before its time limits.
package enum GivingUp: Sendable, Hashable {
    /// The network has changed beneath it, and no answer has come since.
    case networkChanged
    /// It carries older positions, no answer comes, and a newer position waits behind it.
    case newerPosition

    /// For the operator.
    package var words: String {
        switch self {
        case .networkChanged: "the network changed, and no answer came on the old connection"
        case .newerPosition: "no answer to older positions while a newer one waits, which goes first"
        }
    }
}
