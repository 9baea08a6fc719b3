/// Chooses what to send from what is pending, what is only in memory, and how long ago the last update went out. Pure.
package struct NextUpload: Sendable {
    /// The newest update that the outbox could not take; sent from memory while it is the newest.
    package private(set) var unstored: LocationUpdate?
    /// The newest that was delivered from memory: the outbox does not know it, and must not go behind it.
    private var deliveredUnstored: LocationUpdate?
    /// Whether these two overrule what the outbox holds, which could not be told so: they lead whatever their time.
    private var overrulesStored = false
    /// The update that went out last as `lastLocation`, and when it did first.
    private var lastSent: (update: LocationUpdate, firstSentAt: Duration)?
    private var lastDeliveryAt: Duration
    private let heartbeat: Duration

    /// `now`: the heartbeat counts from here until something is delivered.
    package init(heartbeat: Duration, at now: Duration) { (self.heartbeat, lastDeliveryAt) = (heartbeat, now) }

    /// Notes an update that the outbox refused; an older one in its place is superseded. `overrulingStored` when all
    /// that the outbox holds was wrong, until `forgetUnstored`.
    package mutating func offer(unstored update: LocationUpdate, overrulingStored: Bool = false) {
        if overrulingStored { overrulesStored = true }
        if unstored.map({ $0.timeOfFix <= update.timeOfFix }) ?? true { unstored = update }
    }

    /// What goes out at `now`: the outbox's batch, with an unstored newer position in front; without a batch, a
    /// repetition of `newest` once the heartbeat is due; `nil` when there is nothing to say yet. Behind an unstored
    /// position go at most `maximumPastLocations`, as behind a stored one.
    package func batch(
        pending batch: UploadBatch?, newest: StoredUpdate?, maximumPastLocations limit: Int = .max, at now: Duration
    ) -> UploadBatch? {
        func leads(_ update: LocationUpdate) -> Bool {
            if overrulesStored { return true }
            if let newest { return newest.update.timeOfFix < update.timeOfFix }
            // The outbox cannot be asked; what went out last may be newer, and have been taken without an answer.
            return lastSent.map { $0.update.timeOfFix <= update.timeOfFix } ?? true
        }
        if let unstored, leads(unstored) { return Self.batch(led: unstored, with: batch, limit) }
        if let deliveredUnstored, leads(deliveredUnstored) {
            let repetition = Self.batch(led: deliveredUnstored, with: batch, limit)
            return repetition.past.isEmpty && !isHeartbeatDue(at: now) ? nil : repetition
        }
        if let batch { return batch }
        guard let newest, isHeartbeatDue(at: now) else { return nil }
        return UploadBatch(last: newest, lastIsPending: false, past: [])
    }

    /// How long until the heartbeat is due; zero when it is.
    package func timeToHeartbeat(at now: Duration) -> Duration {
        max(.zero, heartbeat - (now - lastDeliveryAt))
    }

    /// Whole seconds since `update` was first sent; `nil` when it never was.
    package func secondsSinceFirstSent(_ update: LocationUpdate, at now: Duration) -> Int? {
        guard let lastSent, lastSent.update == update else { return nil }
        return Int((now - lastSent.firstSentAt) / .seconds(1))
    }

    /// Notes that `batch` is about to go out.
    package mutating func willSend(_ batch: UploadBatch, at now: Duration) {
        if lastSent?.update != batch.last.update { lastSent = (batch.last.update, now) }
    }

    /// Notes that `batch` has arrived.
    package mutating func didDeliver(_ batch: UploadBatch, at now: Duration) {
        lastDeliveryAt = now
        let led = batch.last.update
        if unstored == led { (unstored, deliveredUnstored) = (nil, unstored) }
        if overrulesStored { return }
        // What is older must not come back, not even while the outbox cannot be asked.
        if let older = unstored, older.timeOfFix < led.timeOfFix { unstored = nil }
        if let older = deliveredUnstored, older.timeOfFix < led.timeOfFix { deliveredUnstored = nil }
    }

    /// Notes that the position in front of `batch` was refused for good; the next heartbeat counts from here, so that
    /// it is not repeated in a loop.
    package mutating func didRefuse(_ batch: UploadBatch, at now: Duration) {
        lastDeliveryAt = now
        if unstored == batch.last.update { unstored = nil }
        if deliveredUnstored == batch.last.update { deliveredUnstored = nil }
    }

    /// Notes that what was believed before is wrong, or that the outbox knows better now: nothing of it leads any more.
    package mutating func forgetUnstored() {
        (unstored, deliveredUnstored, overrulesStored, lastSent) = (nil, nil, false, nil)
    }

    /// Sequence 0 is no update of the store: nothing is acknowledged for it.
    private static func batch(led update: LocationUpdate, with batch: UploadBatch?, _ limit: Int) -> UploadBatch {
        UploadBatch(
            last: StoredUpdate(sequence: 0, update: update), lastIsPending: false,
            past: Array((batch?.pending ?? []).prefix(limit)))
    }

    private func isHeartbeatDue(at now: Duration) -> Bool { timeToHeartbeat(at: now) == .zero }
}
