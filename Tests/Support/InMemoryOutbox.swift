import GNSS
package import LocationReporting
package import ReportedText

/// The outbox contract without a disk.
package actor InMemoryOutbox: Outbox {
    private var account = Ledger()
    private var rows: [StoredUpdate] = []
    private var newestUpdate: StoredUpdate?
    /// Of the last update with its shape points.
    private var appended: ClosedRange<Int64>?
    private var newestDelivered: StoredUpdate?
    package private(set) var quarantinedReasons: [Int64: String] = [:]
    /// What the next appends throw; `nil` accepts.
    private var appendFailure: OutboxError?
    /// What every call throws that asks for updates; `nil`: all is well.
    private var failure: OutboxError?

    /// What every append waits for, as for a disk that hangs.
    private let beforeAppend: @Sendable () async -> Void

    package init(beforeAppend: @escaping @Sendable () async -> Void = {}) { self.beforeAppend = beforeAppend }

    package func failEverything(with error: OutboxError?) { (failure, appendFailure) = (error, error) }

    package func failAppends(with error: OutboxError?) { appendFailure = error }

    @discardableResult
    package func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool
    ) async throws(OutboxError) -> StoredUpdate {
        await beforeAppend()
        if let appendFailure { throw appendFailure }
        let first = account.accepted + 1
        for point in shapePoints { accept(point, overrulingEarlier: false) }
        let stored = accept(update, overrulingEarlier: overrulingEarlier)
        appended = first...stored.sequence
        return stored
    }

    @discardableResult
    private func accept(_ update: LocationUpdate, overrulingEarlier: Bool) -> StoredUpdate {
        account.accepted += 1
        account.pending += 1
        let stored = StoredUpdate(sequence: account.accepted, update: update)
        rows.append(stored)
        newestUpdate = overrulingEarlier ? stored : newer(newestUpdate, stored)
        return stored
    }

    package func nextBatch(maximumPastLocations: Int, withBacklog: Bool) async throws(OutboxError) -> UploadBatch? {
        if let failure { throw failure }
        guard let last = newestUpdate, !rows.isEmpty else { return nil }
        let isPending = rows.contains { $0.sequence == last.sequence }
        let older = rows.filter { $0.sequence != last.sequence }
        let range = appended.flatMap { isPending && $0.upperBound == last.sequence ? $0 : nil }
        let shape = older.filter { range?.contains($0.sequence) ?? false }
        let backlog = withBacklog ? older.filter { range?.contains($0.sequence) != true } : []
        let past = (shape + backlog).prefix(maximumPastLocations)
            .sorted { $0.update.timeOfFix < $1.update.timeOfFix }
        return UploadBatch(last: last, lastIsPending: isPending, past: past)
    }

    package func acknowledge(_ batch: UploadBatch) async throws(OutboxError) {
        if let failure { throw failure }
        let delivered = Set(batch.pending.map(\.sequence))
        let before = rows.count
        for row in rows where delivered.contains(row.sequence) { newestDelivered = newer(newestDelivered, row) }
        rows.removeAll { delivered.contains($0.sequence) }
        account.delivered += Int64(before - rows.count)
        account.pending = Int64(rows.count)
    }

    package func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        guard let index = rows.firstIndex(where: { $0.sequence == update.sequence }) else { return }
        rows.remove(at: index)
        account.pending -= 1
        account.quarantined += 1
        quarantinedReasons[update.sequence] = reason.description
        if newestUpdate?.sequence == update.sequence { newestUpdate = rows.reduce(newestDelivered) { newer($0, $1) } }
    }

    package func newest() async throws(OutboxError) -> StoredUpdate? {
        if let failure { throw failure }
        return newestUpdate
    }

    package func ledger() async throws(OutboxError) -> Ledger { account }

    package func close() async throws(OutboxError) {}

    /// Of equal times of fix the one accepted later is the newer.
    private func newer(_ one: StoredUpdate?, _ other: StoredUpdate) -> StoredUpdate {
        guard let one else { return other }
        return (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence) ? other : one
    }
}

extension Outbox {
    /// Accepts `update`, which is the newest if its time of fix is.
    @discardableResult
    package func append(_ update: LocationUpdate) async throws(OutboxError) -> StoredUpdate {
        try await append(update, with: [], overrulingEarlier: false)
    }

    /// Accepts `update`, which is the newest whatever its time of fix if it is `overrulingEarlier`.
    @discardableResult
    package func append(
        _ update: LocationUpdate, overrulingEarlier: Bool
    ) async throws(OutboxError) -> StoredUpdate {
        try await append(update, with: [], overrulingEarlier: overrulingEarlier)
    }

    /// The newest update with up to so many pending ones.
    package func nextBatch(maximumPastLocations: Int) async throws(OutboxError) -> UploadBatch? {
        try await nextBatch(maximumPastLocations: maximumPastLocations, withBacklog: true)
    }
}
