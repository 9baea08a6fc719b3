package import ReportedText

/// A store that keeps accepted updates until they are delivered. `SQLiteOutbox` implements this protocol.
package protocol Outbox: Sendable {
    /// Accepts `update`. Once this returns, the update survives a crash and a power cut, unless the operator has
    /// configured a durability that may lose the most recent updates.
    ///
    /// - Parameters:
    ///   - update: the update.
    ///   - shapePoints: at most `ShapePoints.maximumPoints` points, in order of time. They are accepted together with
    ///     `update`, all or none, and get the sequence numbers immediately before that of `update`.
    ///   - overrulingEarlier: whether `update` becomes the newest even if previous updates have later fixes, because
    ///     all of those were wrong.
    ///   - next: a request for the contents of the next upload.
    /// - Returns: the stored update, and the answer to `next`.
    /// - Throws: the reason why nothing was accepted.
    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendedUpdate

    /// Returns the contents of the next upload: the newest update, its pending shape points, and then the oldest
    /// pending updates.
    func nextUpload(for request: BatchRequest) async throws(OutboxError) -> NextUpload

    /// Records the pending updates of `batch` as delivered. Returns the contents of the next upload, as `next` does.
    ///
    /// The record may reach the disk only with the next append. A crash before then repeats a delivery but loses
    /// nothing.
    func acknowledge(_ batch: UploadBatch, next: BatchRequest) async throws(OutboxError) -> NextUpload

    /// Quarantines one pending update with the server's message, so that it no longer blocks the rest.
    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError)

    func ledger() async throws(OutboxError) -> Ledger

    /// Writes acknowledgements that are only in memory, and releases the outbox.
    func close() async throws(OutboxError)
}

/// An update with its sequence number in the outbox.
package struct StoredUpdate: Sendable, Hashable {
    /// The number of the update in order of acceptance. The numbers start at 1 and have no gaps for the life of the
    /// outbox.
    package let sequence: Int64
    package let update: LocationUpdate

    package init(sequence: Int64, update: LocationUpdate) {
        self.sequence = sequence
        self.update = update
    }
}

/// The numbers of updates that an outbox has ever accepted, and of those that are delivered, pending, evicted and
/// quarantined.
package struct Ledger: Sendable, Hashable, Codable {
    package var accepted: Int64
    package var delivered: Int64
    package var pending: Int64
    package var evicted: Int64
    package var quarantined: Int64

    package init(
        accepted: Int64 = 0, delivered: Int64 = 0, pending: Int64 = 0, evicted: Int64 = 0, quarantined: Int64 = 0
    ) {
        self.accepted = accepted
        self.delivered = delivered
        self.pending = pending
        self.evicted = evicted
        self.quarantined = quarantined
    }

    /// Whether every accepted update is accounted for.
    package var balances: Bool { accepted == delivered + pending + evicted + quarantined }
}

extension Ledger {
    /// Returns the sum of two ledgers.
    package static func + (one: Self, other: Self) -> Self {
        Self(
            accepted: one.accepted + other.accepted, delivered: one.delivered + other.delivered,
            pending: one.pending + other.pending, evicted: one.evicted + other.evicted,
            quarantined: one.quarantined + other.quarantined)
    }
}
