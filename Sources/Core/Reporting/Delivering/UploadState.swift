/// All that the delivering lane knows, and every decision of it: an event goes in, one action comes out. Pure.
///
/// One thing is in progress at a time: the outbox is read, a permit asked for, a batch sent, its result noted in the
/// outbox; or the lane waits for something to send, or until `dueAt`, when `.timeReached` is due.
struct UploadState: Sendable {
    enum Phase {
        case stopped
        /// The outbox is read; `isPrepared`: there is a permit already.
        case reading(BatchRequest, isPrepared: Bool)
        case preparing(UploadBatch, since: Duration)
        case exchanging(UploadExchange)
        /// The outbox notes the result of the exchange.
        case noting(next: BatchRequest?)
        case announcing(since: Duration)
        /// For something to send, or for a time.
        case awaitingNews(until: Duration?)
        /// For a time alone; or from `networkEndsAt` on for the network.
        case backingOff(until: Duration, networkEndsAt: Duration?)
    }

    /// What is there to send that was not there when the outbox was read last.
    struct News: Sendable, Hashable {
        /// Whether there may be something.
        var isThere = false
        /// Whether that is a newer position.
        var isNewer = false
        /// What the append in progress asks the outbox for.
        var request: BatchRequest?
        /// Whether nothing was pending when the outbox was read last.
        var isOutboxEmpty = false
    }

    /// What has happened in a row.
    struct Streaks: Sendable, Hashable {
        /// Failed attempts since the last success. What holds delivery doesn't count: a rejected permit, a vehicle that
        /// doesn't exist, a permit that doesn't come.
        var failures = 0
        /// How often the outbox failed since then.
        var outboxFailures = 0
        /// How many updates were rejected for good since then.
        var rejections = 0
        /// Whether a permit was rejected since then, so that those after it were new ones already.
        var hasPreparedAgain = false
        /// How often in a row there was no permit.
        var missingPermits = 0
        /// How often in a row delivery was put on hold.
        var holds = 0

        /// After so many rejected one by one, and none accepted between, it is not the updates.
        var rejectsEverything: Bool { rejections >= 3 }
    }

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
    var privacy: UploadPrivacy
    var news = News()
    var streaks = Streaks()
    /// Whether the observer knows that there is nothing to send.
    var isIdle = false
    /// Whether the lane ends once nothing is pending, or at once.
    var end = (whenEmpty: false, isCancelled: false)
    /// The position that led the last upload that was accepted, and when the first one began: it is not what another is
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

    /// How long ago the request with `update` in front began, if it was accepted, or is in progress: one that failed
    /// counts for nothing, and after a failure one that gets no answer within a second.
    func timeSinceSent(_ update: LocationUpdate, at now: Duration) -> Duration? {
        if let taken, taken.update == update { return now - taken.startedAt }
        guard case .exchanging(let exchange) = phase, exchange.batch.last == update else { return nil }
        let elapsed = now - exchange.startedAt
        return streaks.failures == 0 || elapsed < Self.quickRecovery ? elapsed : nil
    }

    /// What an append that begins at `now` asks the outbox for; `nil` if its answer would not be used.
    mutating func requestForAppend(at now: Duration) -> BatchRequest? {
        self.now = now
        news.request = nil
        if case .awaitingNews = phase, !privacy.owesOffline { news.request = request() }
        return news.request
    }

    /// Handles what has happened at `now`, and returns what follows; `jitter` draws from 0...1 when a wait may begin.
    mutating func handle(
        _ event: UploadEvent, at now: Duration, jitter: @autoclosure () -> Double
    ) -> UploadStep {
        self.now = now
        switch event {
        case .started:
            guard case .stopped = phase else { return misfit(event) }
            return readOutbox()
        case .accepted(let next): return accepted(next)
        case .offered(let update, let overrulingStored):
            selection.offer(unstored: update, overrulingStored: overrulingStored)
            return takeNews(isNewer: true)
        case .forgetUnstored:
            selection.forgetUnstored()
            return UploadStep()
        case .finishWhenEmpty:
            end.whenEmpty = true
            return takeNews(isNewer: false)
        case .requeued: return takeNews(isNewer: false)
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
        case .timeReached: return timeReached()
        case .cancelled: return cancel()
        case .outboxRead, .outboxFailed, .prepared, .notPrepared, .answered, .noted, .announced:
            return ended(by: event, jitter: jitter)
        }
    }

    /// Handles the end of an action.
    private mutating func ended(by event: UploadEvent, jitter: () -> Double) -> UploadStep {
        switch (event, phase) {
        case (.outboxRead(let next), .reading(let request, let isPrepared)):
            return select(from: next, for: request, isPrepared: isPrepared)
        case (.outboxFailed(let error), .reading), (.outboxFailed(let error), .noting):
            return outboxFailed(error, jitter: jitter)
        case (.prepared, .preparing(let batch, let since)): return prepared(for: batch, since: since)
        case (.notPrepared(let fault), .preparing(_, let since)), (.notPrepared(let fault), .announcing(let since)):
            return notPrepared(fault, since: since, jitter: jitter)
        case (.answered(let result), .exchanging(let exchange)):
            return answered(exchange, result, jitter: jitter)
        case (.noted(let next), .noting(let request)): return noted(next, for: request)
        case (.announced(let outcome), .announcing(let since)):
            return announced(outcome, since: since, jitter: jitter())
        default: return misfit(event)
        }
    }

    /// An event that doesn't fit the phase is a bug: it is reported, and all begins again.
    private mutating func misfit(_ event: UploadEvent) -> UploadStep {
        let error = InternalError(event: Self.name(of: event), phase: Self.name(of: phase))
        phase = .stopped
        return UploadStep(.restart, reporting: [.internalError(error)])
    }

    /// The name of an enumeration's case, without its values: they may be secret.
    private static func name(of value: Any) -> String {
        String("\(value)".prefix { $0 != "(" })
    }
}
