package import ReportedText

/// An outbox in memory for the vehicles of a load test. It keeps a ledger, but nothing survives the process.
///
/// Its capacity is bounded: while it is full, `append` waits for a delivery.
package actor MemoryOutbox: Outbox {
    private struct Row {
        let stored: StoredUpdate
        let acceptedAt: Duration
    }

    private let capacity: Int
    private let clock: MonotonicClock
    private var counts = Ledger()
    /// The pending updates in order of acceptance.
    private var rows: [Row] = []
    private var newestUpdate: StoredUpdate?
    /// The sequence numbers of the last update and its shape points; `nil` before the first update.
    private var lastAppended: ClosedRange<Int64>?
    private var newestDelivered: StoredUpdate?
    /// The continuation that wakes an `append` that waits for room; `nil` if none waits.
    private var roomListener: AsyncStream<Never>.Continuation?
    private var maximumDeliveryTime = Duration.zero

    /// The maximum time from an update's acceptance to its delivery, or until now if it is pending.
    package var maximumWait: Duration {
        max(maximumDeliveryTime, rows.first.map { clock.now - $0.acceptedAt } ?? .zero)
    }

    package init(capacity: Int, clock: MonotonicClock) {
        self.capacity = max(1, capacity)
        self.clock = clock
    }

    package func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendResult {
        // If the task is cancelled, the update is accepted, even though it exceeds the capacity. After an error, the
        // update would be sent from memory instead.
        while rows.count >= capacity, !Task.isCancelled {
            let (changes, listener) = AsyncStream.makeStream(of: Never.self)
            roomListener = listener
            for await _ in changes {}
        }
        let first = counts.accepted + 1
        for point in shapePoints { _ = accept(point) }
        let stored = accept(update)
        lastAppended = first...stored.sequence
        newestUpdate = overrulingEarlier ? stored : Self.newer(of: newestUpdate, and: stored)
        return AppendResult(stored, next: next.map { upload(for: $0) })
    }

    private func accept(_ update: LocationUpdate) -> StoredUpdate {
        counts.accepted += 1
        let stored = StoredUpdate(sequence: counts.accepted, update: update)
        rows.append(Row(stored: stored, acceptedAt: clock.now))
        return stored
    }

    package func nextUpload(for request: BatchRequest) async throws(OutboxError) -> NextUpload {
        upload(for: request)
    }

    private func upload(for request: BatchRequest) -> NextUpload {
        NextUpload(batch(for: request), newest: newestUpdate)
    }

    private func batch(for request: BatchRequest) -> UploadBatch? {
        guard let last = newestUpdate, !rows.isEmpty else { return nil }
        let isPending = rows.contains { $0.stored.sequence == last.sequence }
        let fresh = lastAppended.flatMap { isPending && $0.upperBound == last.sequence ? $0 : nil }
        let older = rows.lazy.map(\.stored).filter { $0.sequence != last.sequence }
        let shape = older.filter { fresh?.contains($0.sequence) == true }
        let backlog = older.filter { request.withBacklog && fresh?.contains($0.sequence) != true }
        let past = (Array(shape) + Array(backlog)).prefix(request.maximumPastLocations)
        return UploadBatch(
            last: last, lastIsPending: isPending, past: past.sorted { $0.update.timeOfFix < $1.update.timeOfFix })
    }

    package func acknowledge(
        _ batch: UploadBatch, next: BatchRequest
    ) async throws(OutboxError) -> NextUpload {
        let delivered = Set(batch.pending.map(\.sequence))
        let now = clock.now
        for row in rows where delivered.contains(row.stored.sequence) {
            newestDelivered = Self.newer(of: newestDelivered, and: row.stored)
            maximumDeliveryTime = max(maximumDeliveryTime, now - row.acceptedAt)
            counts.delivered += 1
        }
        removeRows { delivered.contains($0) }
        return upload(for: next)
    }

    package func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        guard rows.contains(where: { $0.stored.sequence == update.sequence }) else { return }
        counts.quarantined += 1
        removeRows { $0 == update.sequence }
        guard newestUpdate?.sequence == update.sequence else { return }
        newestUpdate = rows.reduce(newestDelivered) { Self.newer(of: $0, and: $1.stored) }
    }

    package func ledger() async throws(OutboxError) -> Ledger {
        var ledger = counts
        ledger.pending = Int64(rows.count)
        return ledger
    }

    package func close() async throws(OutboxError) {}

    private func removeRows(where isGone: (Int64) -> Bool) {
        rows.removeAll { isGone($0.stored.sequence) }
        roomListener?.finish()
        roomListener = nil
    }

    /// Returns the update with the newer fix. If both fixes have the same time, returns the update that was accepted
    /// later.
    private static func newer(of one: StoredUpdate?, and other: StoredUpdate) -> StoredUpdate {
        guard let one else { return other }
        return (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence) ? other : one
    }
}
