import GNSS
package import ReportedText
package import Reporting

/// A `MemoryOutbox` without a bound, whose calls fail and hang as a test wants it.
package actor ScriptedOutbox: Outbox {
    private let outbox = MemoryOutbox(capacity: .max, clock: MonotonicClock(ManualClock()))
    package private(set) var quarantinedReasons: [Int64: String] = [:]
    /// The updates of each append, whether it was accepted or not.
    package private(set) var appends: [[LocationUpdate]] = []
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
        appends.append(shapePoints + [update])
        if let appendFailure { throw appendFailure }
        return try await outbox.append(update, with: shapePoints, overrulingEarlier: overrulingEarlier)
    }

    package func nextBatch(maximumPastLocations: Int, withBacklog: Bool) async throws(OutboxError) -> UploadBatch? {
        if let failure { throw failure }
        return try await outbox.nextBatch(maximumPastLocations: maximumPastLocations, withBacklog: withBacklog)
    }

    package func acknowledge(_ batch: UploadBatch) async throws(OutboxError) {
        if let failure { throw failure }
        try await outbox.acknowledge(batch)
    }

    package func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        quarantinedReasons[update.sequence] = reason.description
        try await outbox.quarantine(update, reason: reason)
    }

    package func newest() async throws(OutboxError) -> StoredUpdate? {
        if let failure { throw failure }
        return try await outbox.newest()
    }

    package func ledger() async throws(OutboxError) -> Ledger { try await outbox.ledger() }

    package func close() async throws(OutboxError) {}
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
