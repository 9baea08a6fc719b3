import LocationReporting
import ReportedText
import SQLiteOutbox

/// An outbox that is given up on while its disk does not answer: then it takes nothing and has nothing to send, at
/// once, so that positions go out from memory, until the call that hangs returns. What it holds is delivered from then.
///
/// Without `calls` nobody watches, and it is the outbox itself.
struct WatchedOutbox<Store: Outbox>: Outbox {
    private let outbox: Store
    private let calls: StageCalls?

    init(_ outbox: Store, calls: StageCalls?) { (self.outbox, self.calls) = (outbox, calls) }

    @discardableResult
    func append(_ update: LocationUpdate, overrulingEarlier: Bool) async throws(OutboxError) -> StoredUpdate {
        try await call { outbox throws(OutboxError) in
            try await outbox.append(update, overrulingEarlier: overrulingEarlier)
        }
    }

    func nextBatch(maximumPastLocations: Int) async throws(OutboxError) -> UploadBatch? {
        try await call(whenHung: .some(nil)) { outbox throws(OutboxError) in
            try await outbox.nextBatch(maximumPastLocations: maximumPastLocations)
        }
    }

    func acknowledge(_ batch: UploadBatch) async throws(OutboxError) {
        // Of what went out from memory there is nothing to be told.
        if batch.pending.isEmpty {
            try await call(whenHung: ()) { outbox throws(OutboxError) in try await outbox.acknowledge(batch) }
        } else {
            try await call { outbox throws(OutboxError) in try await outbox.acknowledge(batch) }
        }
    }

    func quarantine(_ update: StoredUpdate, reason: ReportedText) async throws(OutboxError) {
        try await call { outbox throws(OutboxError) in try await outbox.quarantine(update, reason: reason) }
    }

    func newest() async throws(OutboxError) -> StoredUpdate? {
        try await call(whenHung: .some(nil)) { outbox throws(OutboxError) in try await outbox.newest() }
    }

    func ledger() async throws(OutboxError) -> Ledger {
        try await call { outbox throws(OutboxError) in try await outbox.ledger() }
    }

    /// Comes after a call that hangs, and waits for it: whoever closes says for how long.
    func close() async throws(OutboxError) { try await outbox.close() }

    /// `whenHung`: what to answer in the place of an outbox that does not; without it, that is an error.
    private func call<Value: Sendable>(
        whenHung substitute: Value? = nil,
        _ body: @escaping @Sendable (Store) async throws(OutboxError) -> Value
    ) async throws(OutboxError) -> Value {
        guard let calls else { return try await body(outbox) }
        let result = await calls.run { [outbox] () -> Result<Value, OutboxError> in
            do throws(OutboxError) { return .success(try await body(outbox)) } catch { return .failure(error) }
        }
        guard let result else {
            if let substitute { return substitute }
            throw OutboxError(.unusable, "the outbox does not answer; check its disk (dmesg), it may be dying")
        }
        return try result.get()
    }
}

extension WatchedOutbox<SQLiteOutbox> {
    /// See `SQLiteOutbox.summary`.
    func summary() async throws(OutboxError) -> StoreSummary {
        try await call { outbox throws(OutboxError) in try await outbox.summary() }
    }

    /// See `SQLiteOutbox.maintain`.
    func maintain() async throws(OutboxError) -> Bool {
        try await call(whenHung: false) { outbox throws(OutboxError) in try await outbox.maintain() }
    }
}
