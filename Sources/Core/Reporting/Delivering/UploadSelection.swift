/// Selects what the next upload carries: from what is pending, what is in memory only, and how long ago the last update
/// was delivered. Pure.
struct UploadSelection: Sendable {
    /// The newest update that the outbox could not take; sent from memory while it is the newest.
    private var unstored: LocationUpdate?
    /// The newest that was delivered from memory: the outbox does not know it, and must not go behind it.
    private var deliveredUnstored: LocationUpdate?
    /// Whether these two overrule what the outbox holds, which could not be told so: they lead whatever their time.
    private var overrulesStored = false
    /// The update that went out last as `lastLocation`, and when it did first.
    private var lastSent: (update: LocationUpdate, firstSentAt: Duration)?
    private let heartbeat: Duration
    /// When the live position is to be repeated.
    private var heartbeatDueAt: Duration
    /// When the outbox is to be read for that: when it is due, and every second as long as there is nothing to repeat.
    private(set) var heartbeatReadAt: Duration

    /// `now`: the heartbeat counts from here until something is delivered.
    init(heartbeat: Duration, at now: Duration) {
        self.heartbeat = heartbeat
        heartbeatDueAt = now + heartbeat
        heartbeatReadAt = now + heartbeat
    }

    /// Notes an update that the outbox did not accept; it supersedes an older one. `overrulingStored` when all that the
    /// outbox holds was wrong, until `forgetUnstored`.
    mutating func offer(unstored update: LocationUpdate, overrulingStored: Bool) {
        if overrulingStored { overrulesStored = true }
        if unstored.map({ $0.timeOfFix <= update.timeOfFix }) ?? true { unstored = update }
    }

    /// Notes that the outbox is about to be read.
    mutating func willRead(at now: Duration) {
        if heartbeatReadAt <= now { heartbeatReadAt = now + .seconds(1) }
    }

    /// What goes out at `now`: the outbox's batch, with an unstored newer position in front; without a batch, a
    /// repetition of `newest` once the heartbeat is due; `nil` when there is nothing to say yet. Behind an unstored
    /// position go at most `maximumPastLocations`, as behind a stored one.
    func batch(
        pending batch: UploadBatch?, newest: StoredUpdate?, maximumPastLocations limit: Int, at now: Duration
    ) -> UploadBatch? {
        func leads(_ update: LocationUpdate) -> Bool {
            if overrulesStored { return true }
            if let newest { return newest.update.timeOfFix < update.timeOfFix }
            // The outbox cannot be asked; what went out last may be newer, and have been taken without an answer.
            return lastSent.map { $0.update.timeOfFix <= update.timeOfFix } ?? true
        }
        let past = Array((batch?.pending ?? []).prefix(limit))
        if let unstored, leads(unstored) { return UploadBatch(unstored: unstored, past: past) }
        if let deliveredUnstored, leads(deliveredUnstored) {
            return past.isEmpty && now < heartbeatDueAt ? nil : UploadBatch(unstored: deliveredUnstored, past: past)
        }
        if let batch { return batch }
        guard let newest, now >= heartbeatDueAt else { return nil }
        return UploadBatch(last: newest, lastIsPending: false, past: [])
    }

    /// Whole seconds since `update` was first sent; `nil` when it never was.
    func secondsSinceFirstSent(_ update: LocationUpdate, at now: Duration) -> Int? {
        guard let lastSent, lastSent.update == update else { return nil }
        return Int((now - lastSent.firstSentAt) / .seconds(1))
    }

    /// Notes that `batch` is about to go out.
    mutating func willSend(_ batch: UploadBatch, at now: Duration) {
        if lastSent?.update != batch.last { lastSent = (batch.last, now) }
    }

    /// Notes that `batch` has arrived.
    mutating func didDeliver(_ batch: UploadBatch, at now: Duration) {
        postponeHeartbeat(at: now)
        let led = batch.last
        if unstored == led {
            deliveredUnstored = unstored
            unstored = nil
        }
        if overrulesStored { return }
        // What is older must not come back, not even while the outbox cannot be asked.
        if let older = unstored, older.timeOfFix < led.timeOfFix { unstored = nil }
        if let older = deliveredUnstored, older.timeOfFix < led.timeOfFix { deliveredUnstored = nil }
    }

    /// Notes that the position in front of `batch` was rejected for good; the next heartbeat counts from here, so that
    /// it is not repeated in a loop.
    mutating func didReject(_ batch: UploadBatch, at now: Duration) {
        postponeHeartbeat(at: now)
        if unstored == batch.last { unstored = nil }
        if deliveredUnstored == batch.last { deliveredUnstored = nil }
    }

    /// Notes that what was accepted before is wrong, or that the outbox knows better now: nothing of it leads any more.
    mutating func forgetUnstored() {
        unstored = nil
        deliveredUnstored = nil
        overrulesStored = false
        lastSent = nil
    }

    /// The next heartbeat counts from here.
    mutating func postponeHeartbeat(at now: Duration) {
        heartbeatDueAt = now + heartbeat
        heartbeatReadAt = now + heartbeat
    }
}
