import GNSS
package import ReportedText
package import Reporting

/// A `MemoryOutbox` without a bound, whose calls fail and hang as a test wants it.
package actor ScriptedOutbox: Outbox {
    private let outbox = MemoryOutbox(capacity: .max, clock: MonotonicClock(ManualClock()))
    package private(set) var quarantinedReasons: [Int64: String] = [:]
    /// The updates of each append, whether it was accepted or not.
    package private(set) var appends: [[LocationUpdate]] = []
    /// How often it was asked what is next.
    package private(set) var reads = 0
    /// What the next appends throw; `nil` accepts.
    private var appendFailure: OutboxError?
    /// What every call throws that asks for updates; `nil`: all is well.
    private var failure: OutboxError?

    /// What every append waits for, as for a disk that hangs.
    private let beforeAppend: @Sendable () async -> Void

    package init(beforeAppend: @escaping @Sendable () async -> Void = {}) { self.beforeAppend = beforeAppend }

    package func failEverything(with error: OutboxError?) { (failure, appendFailure) = (error, error) }

    package func failAppends(with error: OutboxError?) { appendFailure = error }

    package func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendedUpdate {
        await beforeAppend()
        appends.append(shapePoints + [update])
        if let appendFailure { throw appendFailure }
        return try await outbox.append(update, with: shapePoints, overrulingEarlier: overrulingEarlier, next: next)
    }

    package func next(_ request: BatchRequest) async throws(OutboxError) -> NextUpload {
        reads += 1
        if let failure { throw failure }
        return try await outbox.next(request)
    }

    package func acknowledge(
        _ batch: UploadBatch, next: BatchRequest
    ) async throws(OutboxError) -> NextUpload {
        if let failure { throw failure }
        return try await outbox.acknowledge(batch, next: next)
    }

    package func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        quarantinedReasons[update.sequence] = reason.description
        try await outbox.quarantine(update, reason: reason)
    }

    package func ledger() async throws(OutboxError) -> Ledger { try await outbox.ledger() }

    package func close() async throws(OutboxError) {}
}

extension Outbox {
    /// Accepts `update` with its shape points; it is the newest whatever its time of fix if it is `overrulingEarlier`.
    @discardableResult
    package func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate] = [], overrulingEarlier: Bool = false
    ) async throws(OutboxError) -> StoredUpdate {
        try await append(update, with: shapePoints, overrulingEarlier: overrulingEarlier, next: nil).stored
    }

    /// The newest update with up to so many pending ones.
    package func nextBatch(
        maximumPastLocations: Int, withBacklog: Bool = true
    ) async throws(OutboxError) -> UploadBatch? {
        try await next(BatchRequest(maximumPastLocations: maximumPastLocations, withBacklog: withBacklog)).batch
    }

    /// Counts everything pending in `batch` as delivered.
    package func acknowledge(_ batch: UploadBatch) async throws(OutboxError) {
        _ = try await acknowledge(batch, next: BatchRequest(maximumPastLocations: 0, withBacklog: false))
    }

    /// The newest update ever accepted.
    package func newest() async throws(OutboxError) -> StoredUpdate? {
        try await next(BatchRequest(maximumPastLocations: 0, withBacklog: false)).newest
    }
}
