/// The state of the delivering lane, and every decision of it: each event leads to at most one action. Pure.
///
/// One action is in progress at a time. The lane reads the outbox, asks for a permit, sends a batch and records its
/// result in the outbox; or it waits for something to send, or until `dueAt`, when it expects `.timeReached`.
struct UploadState: Sendable {
    enum Phase {
        case stopped
        /// The lane reads the outbox. `isPrepared`: it has a permit already.
        case reading(BatchRequest, isPrepared: Bool)
        case preparing(UploadBatch, since: Duration)
        case exchanging(UploadExchange)
        /// The outbox records the result of the exchange.
        case recordingResult(next: BatchRequest?)
        case announcing(since: Duration)
        /// The lane waits for something to send, or for the given time.
        case idle(until: Duration?)
        /// The lane waits for the given time. From `networkEndsAt` on, the network's return ends the wait.
        case backingOff(until: Duration, networkEndsAt: Duration?)
    }

    /// Events since the last reading of the outbox that may have made more available to send.
    struct Arrivals: Sendable, Hashable {
        /// Whether there may be anything new to send.
        var hasAny = false
        var hasNewerPosition = false
        /// The request that the append in progress has passed to the outbox.
        var appendRequest: BatchRequest?
    }

    /// Counts of consecutive failures. All but the last two count since the last delivery.
    struct Streaks: Sendable, Hashable {
        /// Failed attempts. Holds don't count: a missing or rejected permit, an unknown vehicle.
        var failures = 0
        var outboxFailures = 0
        /// Updates that were rejected for good.
        var rejections = 0
        /// Whether a permit was rejected, so that the present one is new.
        var hasPreparedAgain = false
        /// Attempts in a row that got no permit.
        var missingPermits = 0
        /// Answers in a row that put delivery on hold.
        var holds = 0

        /// Whether the updates aren't the reason for rejections: several were rejected one by one, and none accepted.
        var rejectsEverything: Bool { rejections >= 3 }
    }

    /// When and how the lane ends.
    struct Termination: Sendable, Hashable {
        /// Whether the lane ends once nothing is pending.
        var whenEmpty = false
        /// Whether the lane ends as soon as possible.
        var isCancelled = false
    }

    /// Positions that led earlier uploads.
    struct Leaders: Sendable, Hashable {
        /// The position that led the last accepted upload. A later rejection of a batch can't be due to this position.
        var delivered: LocationUpdate?
        /// When the first upload that `delivered` led was started.
        var deliveredStartedAt = Duration.zero
        /// The position whose answer could not be decoded. It may have arrived, so it isn't sent again.
        var undecodable: LocationUpdate?
    }

    /// The maximum time for a permit after which the chosen batch is still current. After a longer wait the outbox is
    /// read again if there is a newer position.
    static let quickPreparation = Duration.milliseconds(100)
    /// The time after which an exchange without an answer is likely to fail, if the attempt before it failed.
    static let quickRecovery = Duration.seconds(1)

    let settings: UploadSettings
    /// Whether the service shows a presence.
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
    /// Whether the observer has been notified that there is nothing to send.
    var hasReportedIdle = false
    var termination = Termination()
    var leaders = Leaders()

    /// - Parameters:
    ///   - settings: the vehicle's settings.
    ///   - hasPresence: whether the service shows a presence.
    ///   - privacy: whether the vehicle is or may be private at the start.
    ///   - now: the start of the first heartbeat.
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
    var presence: Presence { privacy.presence(settings.presence) }

    /// When `.timeReached` is due; `nil` if the lane waits for no time.
    var dueAt: Duration? {
        switch phase {
        case .idle(let end): min(end ?? selection.heartbeatReadAt, selection.heartbeatReadAt)
        case .backingOff(let end, _): end
        case .exchanging(let exchange): exchange.abortDueAt
        default: nil
        }
    }

    /// Returns the time since the start of the request that `update` led, if that was accepted or is in progress.
    /// A failed request doesn't count. After a failure, neither does a request that has no answer after a second.
    func timeSinceSent(_ update: LocationUpdate, at now: Duration) -> Duration? {
        if leaders.delivered == update { return now - leaders.deliveredStartedAt }
        guard case .exchanging(let exchange) = phase, exchange.batch.last == update else { return nil }
        let elapsed = now - exchange.startedAt
        return streaks.failures == 0 || elapsed < Self.quickRecovery ? elapsed : nil
    }

    /// Returns the request for an append that starts at `now`; `nil` if its answer would not be used.
    mutating func requestForAppend(at now: Duration) -> BatchRequest? {
        self.now = now
        arrivals.appendRequest = nil
        if case .idle = phase, !privacy.owesOffline { arrivals.appendRequest = request() }
        return arrivals.appendRequest
    }

    /// Handles an event that has occurred at `now`, and returns its consequences. `jitter` draws from 0...1 if a wait
    /// may begin.
    mutating func handle(
        _ event: UploadEvent, at now: Duration, jitter: @autoclosure () -> Double
    ) -> UploadStep {
        self.now = now
        switch event {
        case .started:
            guard case .stopped = phase else { return unexpected(event) }
            return readOutbox()
        case .updateStored(let next): return updateStored(next)
        case .updateNotStored(let update, let overrulesStored):
            selection.offer(unstored: update, overrulesStored: overrulesStored)
            return noteArrival(isNewerPosition: true)
        case .forgetUnstored:
            selection.forgetUnstored()
            return UploadStep()
        case .finishWhenEmpty:
            termination.whenEmpty = true
            return noteArrival(isNewerPosition: false)
        case .requeued: return noteArrival(isNewerPosition: false)
        case .networkReturning:
            networkReturning()
            return UploadStep()
        case .networkReturned: return networkReturned()
        case .privateModeBegan:
            privacy = .on(owesOffline: hasPresence)
            return noteArrival(isNewerPosition: false)
        case .privateModeEnded(let mayBePrivate):
            privacy.end(mayBePrivate: mayBePrivate)
            return noteArrival(isNewerPosition: false)
        case .timeReached: return timeReached()
        case .cancelled: return cancel()
        case .outboxRead, .outboxFailed, .prepared, .notPrepared, .answered, .resultRecorded, .announced:
            return ended(by: event, jitter: jitter)
        }
    }

    /// Handles the result of an action.
    private mutating func ended(by event: UploadEvent, jitter: () -> Double) -> UploadStep {
        switch (event, phase) {
        case (.outboxRead(let next), .reading(let request, let isPrepared)):
            return select(from: next, for: request, isPrepared: isPrepared)
        case (.outboxFailed(let error), .reading), (.outboxFailed(let error), .recordingResult):
            return outboxFailed(error, jitter: jitter)
        case (.prepared, .preparing(let batch, let since)): return prepared(for: batch, since: since)
        case (.notPrepared(let fault), .preparing(_, let since)), (.notPrepared(let fault), .announcing(let since)):
            return notPrepared(fault, since: since, jitter: jitter)
        case (.answered(let result), .exchanging(let exchange)):
            return answered(exchange, result, jitter: jitter)
        case (.resultRecorded(let next), .recordingResult(let request)): return proceed(with: next, for: request)
        case (.announced(let outcome), .announcing(let since)):
            return announced(outcome, since: since, jitter: jitter())
        default: return unexpected(event)
        }
    }

    /// Reports an event that doesn't fit the phase, which is a bug, and starts again.
    private mutating func unexpected(_ event: UploadEvent) -> UploadStep {
        let error = InternalError(event: Self.name(of: event), phase: Self.name(of: phase))
        phase = .stopped
        return UploadStep(.restart, reporting: [.internalError(error)])
    }

    /// Returns the name of an enumeration's case without its values, which may be secret.
    private static func name(of value: Any) -> String {
        String("\(value)".prefix { $0 != "(" })
    }
}
