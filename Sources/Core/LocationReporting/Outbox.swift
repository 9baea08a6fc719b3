package import ReportedText

/// Where accepted updates wait until Fleet Engine has them: the port that `SQLiteOutbox` implements.
package protocol Outbox: Sendable {
    /// Accepts `update`: when this returns, it survives a crash and a power cut, unless its owner has chosen a window
    /// in which the last ones may be lost.
    ///
    /// `overrulingEarlier` makes it the newest though its time of fix is earlier: those before it were wrong.
    @discardableResult
    func append(
        _ update: LocationUpdate, overrulingEarlier: Bool
    ) async throws(OutboxError) -> StoredUpdate

    /// The newest update with up to `maximumPastLocations` of the oldest pending ones; `nil` when nothing is pending.
    func nextBatch(maximumPastLocations: Int) async throws(OutboxError) -> UploadBatch?

    /// Counts everything pending in `batch` as delivered.
    ///
    /// The count may reach the disk with the next append: a crash in between repeats a delivery and loses nothing.
    func acknowledge(_ batch: UploadBatch) async throws(OutboxError)

    /// Sets one pending update aside with the server's words; it no longer blocks the rest.
    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError)

    /// The newest update ever accepted, delivered or not, unless it is in quarantine; `nil` for a new store.
    func newest() async throws(OutboxError) -> StoredUpdate?

    func ledger() async throws(OutboxError) -> Ledger

    /// Writes what is still only in memory (acknowledgements) and releases the store.
    func close() async throws(OutboxError)
}

extension Outbox {
    /// Accepts `update`, which is the newest if its time of fix is.
    @discardableResult
    package func append(_ update: LocationUpdate) async throws(OutboxError) -> StoredUpdate {
        try await append(update, overrulingEarlier: false)
    }
}
