/// Chooses what to send from what is pending, what is only in memory, and how long ago the last update went out. Pure.
package struct NextUpload: Sendable {
    /// The newest update that the outbox could not take; sent from memory while it is the newest.
    package private(set) var unstored: LocationUpdate?
    /// The update that went out last as `lastLocation`, and when it did first.
    private var lastSent: (update: LocationUpdate, firstSentAt: Duration)?
    private var lastDeliveryAt: Duration
    private let heartbeat: Duration

    /// `now`: the heartbeat counts from here until something is delivered.
    package init(heartbeat: Duration, at now: Duration) { (self.heartbeat, lastDeliveryAt) = (heartbeat, now) }

    /// Notes an update that the outbox refused; an older one in its place is superseded.
    package mutating func offer(unstored update: LocationUpdate) {
        if unstored.map({ $0.timeOfFix <= update.timeOfFix }) ?? true { unstored = update }
    }

    /// What goes out at `now`: the outbox's batch, with an unstored newer position in front; without a batch, a
    /// repetition of `newest` once the heartbeat is due; `nil` when there is nothing to say yet.
    package func batch(
        pending batch: UploadBatch?, newest: StoredUpdate?, at now: Duration
    ) -> UploadBatch? {
        if let unstored, newest.map({ $0.update.timeOfFix < unstored.timeOfFix }) ?? true {
            // Sequence 0 is no update of the store: nothing is acknowledged for it.
            let live = StoredUpdate(sequence: 0, update: unstored)
            return UploadBatch(last: live, lastIsPending: false, past: batch?.pending ?? [])
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
        forgetUnstored(in: batch)
    }

    /// Notes that the position in front of `batch` is not to be sent again.
    package mutating func forgetUnstored(in batch: UploadBatch) {
        if unstored == batch.last.update { unstored = nil }
    }

    private func isHeartbeatDue(at now: Duration) -> Bool { timeToHeartbeat(at: now) == .zero }
}
