/// The state machine of the delivery lane, which makes every decision: each event leads to at most one action. This
/// type does no I/O.
///
/// One action is in progress at a time. The lane reads the outbox, asks for a permit, sends a batch and records the
/// result in the outbox. If there is nothing to send, the lane waits for a new event. `.timeReached` ends the wait no
/// later than at `dueAt`.
struct UploadState: Sendable {
    enum Phase {
        case stopped
        /// The lane reads the outbox. `isPrepared` says whether the lane already has a permit.
        case reading(BatchRequest, isPrepared: Bool)
        case preparing(UploadBatch, since: Duration)
        case exchanging(UploadExchange)
        /// The outbox records the result of the exchange.
        case recordingResult(next: BatchRequest?)
        case announcing(since: Duration)
        /// The lane waits until there is something to send, or until the given time.
        case idle(until: Duration?)
        /// The lane waits until the given time. From `networkEndsAt` on, the network's return ends the wait.
        case backingOff(until: Duration, networkEndsAt: Duration?)
    }

    /// The changes since the outbox was last read.
    struct Arrivals: Sendable, Hashable {
        /// Whether there may be anything new to send.
        var hasAny = false
        var hasNewerPosition = false
        /// The request for the next upload that the append in progress includes; `nil` without such a request.
        var appendRequest: BatchRequest?
        /// Whether nothing was pending when the outbox was last read.
        var isOutboxEmpty = false
    }

    /// The numbers of consecutive failures, by kind. A delivery resets all of them.
    struct Streaks: Sendable, Hashable {
        /// The number of failed attempts, not counting holds. A hold is due to a missing or rejected permit, or to an
        /// unknown vehicle.
        var failures = 0
        /// The number of the last attempts that were all intercepted.
        var interceptions = 0
        var outboxFailures = 0
        /// The number of updates that were permanently rejected.
        var rejections = 0
        /// Whether the current permit is new because the previous one was rejected.
        var hasPreparedAgain = false
        /// The number of consecutive attempts for which no permit could be obtained.
        var missingPermits = 0
        /// The number of consecutive answers that put delivery on hold.
        var holds = 0

        /// Whether the server rejects every update. Several were rejected one by one and none was accepted, so the
        /// updates can't be the reason.
        var rejectsEverything: Bool { rejections >= 3 }
    }

    /// The conditions under which the lane ends.
    struct Termination: Sendable, Hashable {
        /// Whether the lane ends once nothing is pending.
        var endsWhenEmpty = false
        /// Whether the lane ends as soon as possible.
        var isCancelled = false
    }

    /// The positions that led certain earlier uploads.
    struct Leaders: Sendable, Hashable {
        /// The position that led the last accepted upload; `nil` before the first one. A later rejection of a batch
        /// can't be due to this position.
        var delivered: LocationUpdate?
        /// The start of the first upload that was led by `delivered`.
        var deliveredStartedAt = Duration.zero
        /// The position that led an upload whose answer could not be decoded; `nil` if there was none. It may have
        /// arrived, so it isn't sent again.
        var undecodable: LocationUpdate?
    }

    /// The time that obtaining a permit may take before the chosen batch counts as outdated. After that, the outbox is
    /// read again if there is a newer position.
    static let preparationTimeLimit = Duration.milliseconds(100)
    /// The time after which an exchange without an answer is likely to fail, provided that the previous attempt failed.
    static let recoveryTimeLimit = Duration.seconds(1)

    let settings: UploadSettings
    /// Whether the service records a vehicle's presence.
    let hasPresence: Bool
    var retry: RetryPolicy { settings.retry }
    /// The time of the last event.
    var now: Duration
    var phase = Phase.stopped
    var selection: UploadSelection
    var batchSize: BatchSize
    var newerPositionTimeout: NewerPositionTimeout
    var pace: UploadPace
    var privacy: UploadPrivacy
    var arrivals = Arrivals()
    var streaks = Streaks()
    /// Whether the lane has reported that there is nothing to send.
    var hasReportedIdle = false
    var termination = Termination()
    var leaders = Leaders()

    /// - Parameters:
    ///   - settings: the vehicle's settings.
    ///   - hasPresence: whether the service records a vehicle's presence.
    ///   - privacy: whether the vehicle is or may be private at the start.
    ///   - now: the current time, which starts the first heartbeat interval.
    init(
        _ settings: UploadSettings, hasPresence: Bool = true, privacy: UploadPrivacy = .off, at now: Duration
    ) {
        self.settings = settings
        self.hasPresence = hasPresence
        self.privacy = privacy
        self.now = now
        selection = UploadSelection(heartbeat: settings.heartbeat, at: now)
        batchSize = BatchSize(maximum: settings.maximumPastLocations)
        newerPositionTimeout = NewerPositionTimeout(maximum: settings.timeLimit)
        pace = UploadPace(backlogUpdatesPerSecond: settings.backlogUpdatesPerSecond)
    }

    /// The presence to send with an update.
    var presence: Presence { privacy.presence(whenNotPrivate: settings.presence) }

    /// The time when `.timeReached` is due; `nil` if the lane doesn't wait for a time.
    var dueAt: Duration? {
        switch phase {
        case .idle(let end): min(end ?? selection.heartbeatReadAt, selection.heartbeatReadAt)
        case .backingOff(let end, _): end
        case .exchanging(let exchange): exchange.abortDueAt
        default: nil
        }
    }

    /// Returns the time since the start of the request that was led by `update`; `nil` unless that request was accepted
    /// or is in progress. If the previous attempt failed, also `nil` once the request has been unanswered for a second.
    func timeSinceSent(_ update: LocationUpdate, at now: Duration) -> Duration? {
        if leaders.delivered == update { return now - leaders.deliveredStartedAt }
        guard case .exchanging(let exchange) = phase, exchange.batch.last == update else { return nil }
        let elapsed = now - exchange.startedAt
        return streaks.failures == 0 || elapsed < Self.recoveryTimeLimit ? elapsed : nil
    }

    /// Returns the request for the next upload to pass with an append that starts at `now`; `nil` if the result would
    /// not be used.
    mutating func requestForAppend(at now: Duration) -> BatchRequest? {
        self.now = now
        arrivals.appendRequest = nil
        if case .idle = phase, !privacy.isOfflinePending { arrivals.appendRequest = batchRequest() }
        return arrivals.appendRequest
    }

    /// Handles an event that has occurred at `now`, and returns its consequences. `jitter` is a random number in 0...1,
    /// evaluated only if a wait may begin.
    mutating func handle(
        _ event: UploadEvent, at now: Duration, jitter: @autoclosure () -> Double
    ) -> UploadStep {
        self.now = now
        switch event {
        case .started:
            guard case .stopped = phase else { return handleUnexpected(event) }
            return readOutbox()
        case .updateStored(let next): return didStoreUpdate(next)
        case .updateNotStored(let update, let overrulesStored):
            selection.offer(unstored: update, overrulesStored: overrulesStored)
            return handleArrival(isNewerPosition: true)
        case .forgetUnstored:
            selection.forgetUnstored()
            return UploadStep()
        case .finishWhenEmpty:
            termination.endsWhenEmpty = true
            return handleArrival(isNewerPosition: false)
        case .requeued: return handleArrival(isNewerPosition: false)
        case .willNotifyOfNetworkReturn:
            forgetFailures()
            return UploadStep()
        case .networkReturned: return endNetworkWait()
        case .privateModeBegan:
            privacy = .on(isOfflinePending: hasPresence)
            return handleArrival(isNewerPosition: false)
        case .privateModeEnded(let mayBePrivate):
            privacy.endPrivateMode(mayBePrivate: mayBePrivate)
            return handleArrival(isNewerPosition: false)
        case .timeReached: return handleTimeReached()
        case .cancelled: return cancel()
        case .outboxRead, .outboxFailed, .prepared, .notPrepared, .answered, .resultRecorded, .announced:
            return handleResult(event, jitter: jitter)
        }
    }

    /// Handles the result of an action. Returns the next step.
    private mutating func handleResult(_ event: UploadEvent, jitter: () -> Double) -> UploadStep {
        switch (event, phase) {
        case (.outboxRead(let next), .reading(let request, let isPrepared)):
            return selectBatch(from: next, for: request, isPrepared: isPrepared)
        case (.outboxFailed(let error), .reading), (.outboxFailed(let error), .recordingResult):
            return handleOutboxFailure(error, jitter: jitter)
        case (.prepared, .preparing(let batch, let since)): return didPrepare(for: batch, since: since)
        case (.notPrepared(let fault), .preparing(_, let since)), (.notPrepared(let fault), .announcing(let since)):
            return didNotPrepare(fault, since: since, jitter: jitter)
        case (.answered(let result), .exchanging(let exchange)):
            return didAnswer(exchange, with: result, jitter: jitter)
        case (.resultRecorded(let next), .recordingResult(let request)): return proceed(with: next, for: request)
        case (.announced(let outcome), .announcing(let since)):
            return didAnnounce(outcome, since: since, jitter: jitter())
        default: return handleUnexpected(event)
        }
    }

    /// Handles an event that isn't valid in the current phase, which is a bug in Waypost. Returns a step that reports
    /// the event and restarts the lane.
    private mutating func handleUnexpected(_ event: UploadEvent) -> UploadStep {
        let error = InternalError(event: Self.caseName(of: event), phase: Self.caseName(of: phase))
        phase = .stopped
        return UploadStep(.restart, reporting: [.internalError(error)])
    }

    /// Returns the name of an enumeration's case without its associated values, which may be secret.
    private static func caseName(of value: Any) -> String {
        String("\(value)".prefix { $0 != "(" })
    }
}
