package import ReportedText

/// Where accepted updates wait until Fleet Engine has them: the port that `SQLiteOutbox` implements.
package protocol Outbox: Sendable {
    /// Accepts `update`: when this returns, it survives a crash and a power cut, unless its owner has chosen a window
    /// in which the last ones may be lost.
    ///
    /// Its shape points, at most `ShapePoints.most` and in order of time, are accepted with it, all of them or none:
    /// updates with the sequences just before its own. `overrulingEarlier` makes it the newest though its time of fix
    /// is earlier: those before it were wrong. `next` asks what the next upload carries.
    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendedUpdate

    /// What the next upload carries: the newest update with pending ones, first its shape points, then the oldest.
    func next(_ request: BatchRequest) async throws(OutboxError) -> NextUpload

    /// Counts everything pending in `batch` as delivered; then the same as `next`.
    ///
    /// The count may reach the disk with the next append: a crash in between repeats a delivery and loses nothing.
    func acknowledge(_ batch: UploadBatch, next: BatchRequest) async throws(OutboxError) -> NextUpload

    /// Quarantines one pending update with the server's words; it no longer blocks the rest.
    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError)

    func ledger() async throws(OutboxError) -> Ledger

    /// Writes what is still only in memory (acknowledgements) and releases the outbox.
    func close() async throws(OutboxError)
}

/// An update with its place in the order of acceptance.
package struct StoredUpdate: Sendable, Hashable {
    /// Counts accepted updates from 1, without gaps, for the life of the outbox.
    package let sequence: Int64
    package let update: LocationUpdate

    package init(sequence: Int64, update: LocationUpdate) {
        self.sequence = sequence
        self.update = update
    }
}

/// The account of every update that was ever accepted.
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
    /// The account of several outboxes together.
    package static func + (one: Self, other: Self) -> Self {
        Self(
            accepted: one.accepted + other.accepted, delivered: one.delivered + other.delivered,
            pending: one.pending + other.pending, evicted: one.evicted + other.evicted,
            quarantined: one.quarantined + other.quarantined)
    }
}
