import Reporting

/// The row with id 0: the counters as they were when a row was last removed.
///
/// Appends alone do not change it. What came later is found from the rows: those after `counters.lastSequence` are
/// there without a gap, and the last of them names the newest.
struct LedgerRecord: Sendable, Hashable {
    static let id: Int64 = 0

    /// Their `newest` is `nil`: `newestSequence` leads to its row, when it is pending.
    var counters: OutboxCounters
    var newestSequence: Int64
    /// Every sequence below is delivered, evicted or quarantined: old copies of such rows are worth nothing.
    var oldestPending: Int64

    init(_ counters: OutboxCounters, oldestPending: Int64) {
        (self.counters, newestSequence) = (counters, counters.newest?.sequence ?? 0)
        self.oldestPending = oldestPending
        self.counters.newest = nil
    }

    /// The later of two copies, for each of these numbers grows with every change; the first where both are of one age.
    static func later(_ one: LedgerRecord?, _ other: LedgerRecord?) -> LedgerRecord? {
        guard let one, let other else { return one ?? other }
        func age(_ record: LedgerRecord) -> (Int64, Int64, Int64) {
            let ledger = record.counters.ledger
            return (record.counters.revision, ledger.accepted, ledger.delivered + ledger.evicted + ledger.quarantined)
        }
        return age(one) < age(other) ? other : one
    }

    var bytes: [UInt8] {
        var writer = RecordWriter()
        for value in [
            counters.lastSequence, counters.pending, counters.delivered, counters.revision, newestSequence,
            oldestPending,
        ] {
            writer.write(value)
        }
        counters.quarantined.write(into: &writer)
        counters.evictions.write(into: &writer)
        counters.thinning.write(into: &writer)
        writer.write(counters.newestDelivered?.sequence ?? 0)
        counters.newestDelivered?.update.write(into: &writer)
        return SealedRecord.seal(.ledger, id: Self.id, payload: writer.bytes)
    }

    /// `nil` when the bytes are not what was written.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard case (.ledger, var reader)? = SealedRecord.open(bytes, id: Self.id) else { return nil }
        let values = (0..<6).compactMap { _ in reader.count() }
        guard values.count == 6, let quarantined = UpdateTally(from: &reader), let evictions = Evictions(from: &reader),
            let thinning = ThinningProgress(from: &reader), let sequence = reader.count()
        else { return nil }
        counters = OutboxCounters(
            lastSequence: values[0], pending: values[1], delivered: values[2], quarantined: quarantined,
            evictions: evictions, thinning: thinning, revision: values[3])
        (newestSequence, oldestPending) = (values[4], values[5])
        guard sequence > 0 else { return }
        guard let update = LocationUpdate(from: &reader) else { return nil }
        counters.newestDelivered = StoredUpdate(sequence: sequence, update: update)
    }
}
