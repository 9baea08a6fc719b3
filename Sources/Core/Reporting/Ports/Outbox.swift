package import ReportedText

/// The store of accepted updates until they are delivered: the port that `SQLiteOutbox` implements.
package protocol Outbox: Sendable {
    /// Accepts `update`. Once this returns, the update survives a crash and a power cut, unless the operator has chosen
    /// a durability that may lose the updates of the last moments.
    ///
    /// - Parameters:
    ///   - update: the update.
    ///   - shapePoints: at most `ShapePoints.maximumPoints`, in order of time. They are accepted together with
    ///     `update`, all or none, and get the sequences just before its own.
    ///   - overrulingEarlier: whether `update` becomes the newest despite an earlier time of fix, because all updates
    ///     before it were wrong.
    ///   - next: a request for the contents of the next upload.
    /// - Returns: the stored update, and the answer to `next`.
    /// - Throws: the reason why nothing was accepted.
    func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendedUpdate

    /// Returns the contents of the next upload: the newest update, then pending ones: its shape points, then the
    /// oldest.
    func next(_ request: BatchRequest) async throws(OutboxError) -> NextUpload

    /// Records the pending updates of `batch` as delivered. Returns the contents of the next upload, as `next` does.
    ///
    /// The record may reach the disk only with the next append. A crash in between repeats a delivery but loses
    /// nothing.
    func acknowledge(_ batch: UploadBatch, next: BatchRequest) async throws(OutboxError) -> NextUpload

    /// Quarantines one pending update with the server's message, so that it no longer blocks the rest.
    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError)

    func ledger() async throws(OutboxError) -> Ledger

    /// Writes acknowledgements that are only in memory, and releases the outbox.
    func close() async throws(OutboxError)
}

/// An update with its number in the outbox.
package struct StoredUpdate: Sendable, Hashable {
    /// The number in order of acceptance, from 1 and without gaps for the life of the outbox.
    package let sequence: Int64
    package let update: LocationUpdate

    package init(sequence: Int64, update: LocationUpdate) {
        self.sequence = sequence
        self.update = update
    }
}

/// Why the outbox could not do what was asked.
package struct OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Another process owns the outbox.
        case locked
        /// No space is left on the device; what was accepted is safe, the new update is not accepted.
        case full
        /// Another program has locked the outbox's file for the moment; nothing is wrong with it.
        case busy
        /// The outbox cannot be read or written.
        case unusable
        /// The outbox was damaged, repaired, and is damaged again.
        case damaged
        /// The outbox was written by a newer release.
        case newerSchema
        case closed
    }

    package let code: Code
    /// Which file, what happened, what to do.
    package let detail: String
    /// Which process owns the outbox, as `waypost run (process 12)`; only of `locked`.
    package let holder: String?

    package init(_ code: Code, _ detail: String, holder: String? = nil) {
        self.code = code
        self.detail = detail
        self.holder = holder
    }

    package var description: String { detail }
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
    /// Returns the sum of two ledgers.
    package static func + (one: Self, other: Self) -> Self {
        Self(
            accepted: one.accepted + other.accepted, delivered: one.delivered + other.delivered,
            pending: one.pending + other.pending, evicted: one.evicted + other.evicted,
            quarantined: one.quarantined + other.quarantined)
    }
}
