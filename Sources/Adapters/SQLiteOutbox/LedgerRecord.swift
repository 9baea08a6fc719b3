import LocationReporting

/// The row with id 0: the account as it was when a row was last removed.
///
/// Appends alone do not change it. What came later is found from the rows: those after `account.lastSequence` are
/// there without a gap, and the last of them names the newest.
struct LedgerRecord: Sendable, Hashable {
    static let id: Int64 = 0

    /// Its `newest` is `nil` when that one is pending: then it is found in its own row.
    var account: OutboxAccount
    var newestSequence: Int64
    /// Every sequence below is delivered, evicted or quarantined: old copies of such rows are worth nothing.
    var oldestPending: Int64

    init(_ account: OutboxAccount, oldestPending: Int64) {
        self.account = account
        newestSequence = account.newest?.sequence ?? 0
        self.oldestPending = oldestPending
        self.account.newest = nil
    }

    /// Grows with every change, so that of two copies the later one is known.
    var age: (Int64, Int64) {
        let ledger = account.ledger
        return (ledger.accepted, ledger.delivered + ledger.evicted + ledger.quarantined)
    }

    var bytes: [UInt8] {
        var writer = RecordWriter()
        for value in [
            account.lastSequence, account.pending, account.delivered, account.quarantined, newestSequence,
            oldestPending,
        ] {
            writer.write(value)
        }
        account.evictedForSpace.write(into: &writer)
        account.lostToDamage.write(into: &writer)
        writer.write(account.newestDelivered?.sequence ?? 0)
        account.newestDelivered?.update.write(into: &writer)
        return SealedRecord.seal(.ledger, id: Self.id, payload: writer.bytes)
    }

    /// `nil` when the bytes are not what was written.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard case (.ledger, var reader)? = SealedRecord.open(bytes, id: Self.id) else { return nil }
        var values: [Int64] = []
        for _ in 0..<6 {
            guard let value: Int64 = reader.signed() else { return nil }
            values.append(value)
        }
        account = OutboxAccount(
            lastSequence: values[0], pending: values[1], delivered: values[2], quarantined: values[3])
        (newestSequence, oldestPending) = (values[4], values[5])
        guard let evicted = EvictionTally(from: &reader), let lost = EvictionTally(from: &reader),
            let sequence = reader.signed()
        else { return nil }
        (account.evictedForSpace, account.lostToDamage) = (evicted, lost)
        guard sequence > 0 else { return }
        guard let update = LocationUpdate(from: &reader) else { return nil }
        account.newestDelivered = StoredUpdate(sequence: sequence, update: update)
    }
}
