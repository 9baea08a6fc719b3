/// The selection of the next upload's contents, based on the pending updates, the positions in memory, and the time
/// since the last delivery. This type does no I/O.
struct UploadSelection: Sendable {
    /// The newest update that the outbox could not store. It is sent from memory until there is a newer update.
    private var unstored: LocationUpdate?
    /// The newest update that was delivered from memory. The outbox doesn't know about it, so an older update from the
    /// outbox must not be sent as the newest.
    private var deliveredUnstored: LocationUpdate?
    /// Whether the outbox's updates are wrong, but the outbox has not been notified yet. If so, `unstored` and
    /// `deliveredUnstored` lead uploads regardless of the times of their fixes.
    private var overrulesStored = false
    /// The update that was last sent as `lastLocation`, and the time when it was first sent.
    private var lastSent: (update: LocationUpdate, firstSentAt: Duration)?
    private let heartbeat: Duration
    /// The time when the live position must be repeated.
    private var heartbeatDueAt: Duration
    /// The time when the outbox must be read for a heartbeat: when the heartbeat is due, and then every second until
    /// there is a position to repeat.
    private(set) var heartbeatReadAt: Duration

    /// - Parameters:
    ///   - heartbeat: the maximum time between two deliveries.
    ///   - now: the current time, which starts the first heartbeat interval.
    init(heartbeat: Duration, at now: Duration) {
        self.heartbeat = heartbeat
        heartbeatDueAt = now + heartbeat
        heartbeatReadAt = now + heartbeat
    }

    /// Keeps an update that the outbox did not accept, unless there is a newer one. `overrulesStored` says whether all
    /// updates in the outbox are wrong. They count as wrong until `forgetUnstored` is called.
    mutating func offer(unstored update: LocationUpdate, overrulesStored: Bool) {
        if overrulesStored { self.overrulesStored = true }
        if unstored.map({ $0.timeOfFix <= update.timeOfFix }) ?? true { unstored = update }
    }

    /// Records that the outbox is about to be read.
    mutating func willRead(at now: Duration) {
        if heartbeatReadAt <= now { heartbeatReadAt = now + .seconds(1) }
    }

    /// Selects the outbox's batch, led by an unstored position if that is newer. If the outbox has no batch, `newest`
    /// is repeated once the heartbeat is due.
    ///
    /// - Parameters:
    ///   - batch: the pending updates; `nil` if there are none, or if the outbox can't be read.
    ///   - newest: the newest update of the outbox; `nil` if there is none, or if the outbox can't be read.
    ///   - limit: the maximum number of past locations in a batch that is led by a position in memory.
    ///   - now: the current time.
    /// - Returns: the batch to send; `nil` if nothing has to be sent yet.
    func batch(
        pending batch: UploadBatch?, newest: StoredUpdate?, maximumPastLocations limit: Int, at now: Duration
    ) -> UploadBatch? {
        func leads(_ update: LocationUpdate) -> Bool {
            if overrulesStored { return true }
            if let newest { return newest.update.timeOfFix < update.timeOfFix }
            // The outbox can't be read. The last update sent may be newer, and may have reached the server although no
            // answer came.
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

    /// Returns the whole seconds since `update` was first sent; `nil` if it has never been sent.
    func secondsSinceFirstSent(_ update: LocationUpdate, at now: Duration) -> Int? {
        guard let lastSent, lastSent.update == update else { return nil }
        return Int((now - lastSent.firstSentAt) / .seconds(1))
    }

    /// Records that `batch` is about to be sent.
    mutating func willSend(_ batch: UploadBatch, at now: Duration) {
        if lastSent?.update != batch.last { lastSent = (batch.last, now) }
    }

    /// Records that `batch` was delivered.
    mutating func didDeliver(_ batch: UploadBatch, at now: Duration) {
        postponeHeartbeat(at: now)
        let led = batch.last
        if unstored == led {
            deliveredUnstored = unstored
            unstored = nil
        }
        if overrulesStored { return }
        // An older position must not lead a later batch, even while the outbox can't be read.
        if let older = unstored, older.timeOfFix < led.timeOfFix { unstored = nil }
        if let older = deliveredUnstored, older.timeOfFix < led.timeOfFix { deliveredUnstored = nil }
    }

    /// Records that the service rejected the position that led `batch`. The time until the next heartbeat starts again,
    /// so that the position isn't repeated in a loop.
    mutating func didReject(_ batch: UploadBatch, at now: Duration) {
        postponeHeartbeat(at: now)
        if unstored == batch.last { unstored = nil }
        if deliveredUnstored == batch.last { deliveredUnstored = nil }
    }

    /// Forgets the positions in memory, because they are wrong or updates in the outbox overrule them.
    mutating func forgetUnstored() {
        unstored = nil
        deliveredUnstored = nil
        overrulesStored = false
        lastSent = nil
    }

    /// Restarts the time until the next heartbeat.
    mutating func postponeHeartbeat(at now: Duration) {
        heartbeatDueAt = now + heartbeat
        heartbeatReadAt = now + heartbeat
    }
}
