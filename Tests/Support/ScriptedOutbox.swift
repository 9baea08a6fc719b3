import GNSS
package import ReportedText
package import Reporting

/// A `MemoryOutbox` without a limit, whose calls can fail and hang.
package actor ScriptedOutbox: Outbox {
    private let outbox = MemoryOutbox(capacity: .max, clock: MonotonicClock(ManualClock()))
    package private(set) var quarantinedReasons: [Int64: String] = [:]
    /// The updates of each append, whether it was accepted or not.
    package private(set) var appends: [[LocationUpdate]] = []
    /// The number of calls to `next`.
    package private(set) var reads = 0
    /// The error of the next appends; `nil` if they succeed.
    private var appendFailure: OutboxError?
    /// The error of `next` and `acknowledge`; `nil` if they succeed.
    private var failure: OutboxError?

    /// A closure that every append awaits, to simulate a disk that hangs.
    private let beforeAppend: @Sendable () async -> Void

    package init(beforeAppend: @escaping @Sendable () async -> Void = {}) { self.beforeAppend = beforeAppend }

    package func failEverything(with error: OutboxError?) {
        failure = error
        appendFailure = error
    }

    package func failAppends(with error: OutboxError?) { appendFailure = error }

    package func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate], overrulingEarlier: Bool, next: BatchRequest?
    ) async throws(OutboxError) -> AppendResult {
        await beforeAppend()
        appends.append(shapePoints + [update])
        if let appendFailure { throw appendFailure }
        return try await outbox.append(update, with: shapePoints, overrulingEarlier: overrulingEarlier, next: next)
    }

    package func nextUpload(for request: BatchRequest) async throws(OutboxError) -> NextUpload {
        reads += 1
        if let failure { throw failure }
        return try await outbox.nextUpload(for: request)
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
    /// Accepts `update` with its shape points. With `overrulingEarlier`, `update` is the newest regardless of its time.
    @discardableResult
    package func append(
        _ update: LocationUpdate, with shapePoints: [LocationUpdate] = [], overrulingEarlier: Bool = false
    ) async throws(OutboxError) -> StoredUpdate {
        try await append(update, with: shapePoints, overrulingEarlier: overrulingEarlier, next: nil).stored
    }

    /// Returns the newest update with at most `maximumPastLocations` pending ones.
    package func nextBatch(
        maximumPastLocations: Int, withBacklog: Bool = true
    ) async throws(OutboxError) -> UploadBatch? {
        try await nextUpload(for: BatchRequest(maximumPastLocations: maximumPastLocations, withBacklog: withBacklog))
            .batch
    }

    /// Records the pending updates of `batch` as delivered.
    package func acknowledge(_ batch: UploadBatch) async throws(OutboxError) {
        _ = try await acknowledge(batch, next: BatchRequest(maximumPastLocations: 0, withBacklog: false))
    }

    /// Returns the newest update ever accepted.
    package func newest() async throws(OutboxError) -> StoredUpdate? {
        try await nextUpload(for: BatchRequest(maximumPastLocations: 0, withBacklog: false)).newest
    }
}
