import Reporting
import StrictJSON

/// The row with sequence number 0. Its note contains the counters, as JSON, from when a row was last removed. Its
/// position columns contain the newest delivered update.
///
/// Appends usually leave this row unchanged. Later updates are counted from their rows: the sequence numbers
/// after `counters.lastSequence` have no gaps, and the last update is the newest. Appending an update that isn't the
/// newest also changes the ledger.
struct LedgerRecord: Sendable, Hashable {
    static let sequence: Int64 = 0

    /// The counters without `newest`, whose row is at `newestSequence` if that update is pending.
    var counters: OutboxCounters
    var newestSequence: Int64
    /// The sequence below which every update is delivered, evicted or quarantined: old copies of such rows are
    /// worthless.
    var oldestPending: Int64

    init(_ counters: OutboxCounters, oldestPending: Int64) {
        self.counters = counters
        newestSequence = counters.newest?.sequence ?? 0
        self.oldestPending = oldestPending
        self.counters.newest = nil
    }

    /// Returns the later of two copies, or the first if neither is later. None of the numbers that are compared ever
    /// decreases.
    static func later(_ one: LedgerRecord?, _ other: LedgerRecord?) -> LedgerRecord? {
        guard let one, let other else { return one ?? other }
        func age(_ record: LedgerRecord) -> (Int64, Int64, Int64) {
            (record.counters.revision, record.counters.lastSequence, record.counters.settled)
        }
        return age(one) < age(other) ? other : one
    }

    var row: StoredRow {
        var row = StoredRow(Self.sequence)
        if let update = counters.newestDelivered?.update { row.set(update) }
        row.note = note.utf8
        return row
    }

    private var note: JSONValue {
        var note: [String: JSONValue] = [
            "accepted": .integer(counters.lastSequence), "pending": .integer(counters.pending),
            "delivered": .integer(counters.delivered), "revision": .integer(counters.revision),
            "newest": .integer(newestSequence), "oldestPending": .integer(oldestPending),
        ]
        note["newestDelivered"] = counters.newestDelivered.map { .integer($0.sequence) }
        note["quarantined"] = counters.quarantined.json
        note["evicted"] = counters.evictions.json
        note["thinned"] = counters.thinning.json
        return .object(note)
    }

    /// Returns `nil` if `row` isn't the ledger.
    init?(_ row: StoredRow) {
        guard row.sequence == Self.sequence, let text = row.note else { return nil }
        let note: JSONValue
        do throws(JSONValue.ParseError) { note = try JSONValue(parsing: text) } catch { return nil }
        guard let newestSequence = note["newest"]?.count, let accepted = note["accepted"]?.count,
            let pending = note["pending"]?.count,
            let delivered = note["delivered"]?.count, let revision = note["revision"]?.count,
            let oldestPending = note["oldestPending"]?.count, let quarantined = UpdateTally(note["quarantined"]),
            let evictions = Evictions(note["evicted"]), let thinning = ThinningProgress(note["thinned"])
        else { return nil }
        counters = OutboxCounters(
            lastSequence: accepted, pending: pending, delivered: delivered, quarantined: quarantined,
            evictions: evictions, thinning: thinning, revision: revision)
        self.newestSequence = newestSequence
        self.oldestPending = oldestPending
        guard let sequence = note["newestDelivered"]?.count else { return }
        guard let update = LocationUpdate(row) else { return nil }
        counters.newestDelivered = StoredUpdate(sequence: sequence, update: update)
    }
}

extension JSONValue {
    /// The integer, if it is plausible as a number of updates or a sequence; otherwise `nil`.
    var count: Int64? { integerValue.flatMap { StoredRow.plausibleCounts.contains($0) ? $0 : nil } }
}
