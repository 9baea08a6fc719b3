/// Selects the contents of the next upload from the pending updates, the positions in memory, and the time since the
/// last delivery. Pure.
struct UploadSelection: Sendable {
    /// The newest update that the outbox could not store; sent from memory while it is the newest.
    private var unstored: LocationUpdate?
    /// The newest update that was delivered from memory. The outbox doesn't know it, and must not send an older one as
    /// the newest.
    private var deliveredUnstored: LocationUpdate?
    /// Whether `unstored` and `deliveredUnstored` overrule the outbox's updates, which the outbox doesn't know yet.
    /// They then lead regardless of their times.
    private var overrulesStored = false
    /// The update that was sent last as `lastLocation`, and when it was first sent.
    private var lastSent: (update: LocationUpdate, firstSentAt: Duration)?
    private let heartbeat: Duration
    /// When the live position must be repeated.
    private var heartbeatDueAt: Duration
    /// When the outbox must be read for a heartbeat: when one is due, and then every second until there is a position
    /// to repeat.
    private(set) var heartbeatReadAt: Duration

    /// - Parameters:
    ///   - heartbeat: the maximum time between two deliveries.
    ///   - now: the start of the first heartbeat.
    init(heartbeat: Duration, at now: Duration) {
        self.heartbeat = heartbeat
        heartbeatDueAt = now + heartbeat
        heartbeatReadAt = now + heartbeat
    }

    /// Notes an update that the outbox did not accept; it replaces an older one. `overrulesStored`: all updates of the
    /// outbox are wrong, until `forgetUnstored`.
    mutating func offer(unstored update: LocationUpdate, overrulesStored: Bool) {
        if overrulesStored { self.overrulesStored = true }
        if unstored.map({ $0.timeOfFix <= update.timeOfFix }) ?? true { unstored = update }
    }

    /// Notes that the outbox is about to be read.
    mutating func willRead(at now: Duration) {
        if heartbeatReadAt <= now { heartbeatReadAt = now + .seconds(1) }
    }

    /// Selects the outbox's batch, led by an unstored position if that is newer. Without a batch of the outbox,
    /// `newest` is repeated once the heartbeat is due.
    ///
    /// - Parameters:
    ///   - batch: the pending updates; `nil` if there are none, or if the outbox can't be read.
    ///   - newest: the newest update of the outbox; `nil` if there is none, or if the outbox can't be read.
    ///   - limit: the maximum number of past locations after an unstored position.
    ///   - now: the present.
    /// - Returns: the batch to send; `nil` if nothing has to be sent yet.
    func batch(
        pending batch: UploadBatch?, newest: StoredUpdate?, maximumPastLocations limit: Int, at now: Duration
    ) -> UploadBatch? {
        func leads(_ update: LocationUpdate) -> Bool {
            if overrulesStored { return true }
            if let newest { return newest.update.timeOfFix < update.timeOfFix }
            // The outbox can't be read. The last update sent may be newer, and may have arrived without an answer.
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

    /// Returns the whole seconds since `update` was first sent; `nil` if it never was.
    func secondsSinceFirstSent(_ update: LocationUpdate, at now: Duration) -> Int? {
        guard let lastSent, lastSent.update == update else { return nil }
        return Int((now - lastSent.firstSentAt) / .seconds(1))
    }

    /// Notes that `batch` is about to be sent.
    mutating func willSend(_ batch: UploadBatch, at now: Duration) {
        if lastSent?.update != batch.last { lastSent = (batch.last, now) }
    }

    /// Notes that `batch` was delivered.
    mutating func didDeliver(_ batch: UploadBatch, at now: Duration) {
        postponeHeartbeat(at: now)
        let led = batch.last
        if unstored == led {
            deliveredUnstored = unstored
            unstored = nil
        }
        if overrulesStored { return }
        // An older position must not lead again, even while the outbox can't be read.
        if let older = unstored, older.timeOfFix < led.timeOfFix { unstored = nil }
        if let older = deliveredUnstored, older.timeOfFix < led.timeOfFix { deliveredUnstored = nil }
    }

    /// Notes that the service rejected the position in front of `batch`. The heartbeat starts again, so that the
    /// position isn't repeated in a loop.
    mutating func didReject(_ batch: UploadBatch, at now: Duration) {
        postponeHeartbeat(at: now)
        if unstored == batch.last { unstored = nil }
        if deliveredUnstored == batch.last { deliveredUnstored = nil }
    }

    /// Forgets the positions in memory: they are wrong, or the outbox holds what overrules them.
    mutating func forgetUnstored() {
        unstored = nil
        deliveredUnstored = nil
        overrulesStored = false
        lastSent = nil
    }

    /// Starts the heartbeat again.
    mutating func postponeHeartbeat(at now: Duration) {
        heartbeatDueAt = now + heartbeat
        heartbeatReadAt = now + heartbeat
    }
}
