import Reporting
import StrictJSON
import TimeAndRandomness

/// The row with the sequence number 0. Its note contains the counters as JSON, as they were when a row was last
/// removed. Its position columns contain the newest delivered update.
///
/// An append usually doesn't change this row, because later updates can be counted from their own rows. The sequence
/// numbers after `counters.lastSequence` have no gaps, and the last one belongs to the newest update. An append of an
/// update that isn't the newest does change the row.
struct LedgerRecord: Sendable, Hashable {
    static let sequence: Int64 = 0

    /// The counters without `newest`. If the newest update is pending, its row has the number `newestSequence`.
    var counters: OutboxCounters
    var newestSequence: Int64
    /// A sequence number below which no update is pending. If a row with a lower number is found, it is an old copy and
    /// isn't used.
    var oldestPending: Int64

    init(_ counters: OutboxCounters, oldestPending: Int64) {
        self.counters = counters
        newestSequence = counters.newest?.sequence ?? 0
        self.oldestPending = oldestPending
        self.counters.newest = nil
    }

    /// Returns the newer of two copies, or the first copy if neither is newer. Copies are compared by counters that
    /// never decrease.
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
        note["lastDelivery"] = counters.lastDelivery.map { .integer($0.millisecondsSince1970) }
        note["quarantined"] = counters.quarantined.json
        note["evicted"] = counters.evictions.json
        note["thinned"] = counters.thinning.json
        return .object(note)
    }

    /// Reads the ledger from its row. Returns `nil` if `row` isn't the ledger's row, or can't be read.
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
        counters.lastDelivery = note["lastDelivery"]?.integerValue.flatMap {
            StoredRow.plausibleTimes.contains($0) ? UTCTime(millisecondsSince1970: $0) : nil
        }
        self.newestSequence = newestSequence
        self.oldestPending = oldestPending
        guard let sequence = note["newestDelivered"]?.count else { return }
        guard let update = LocationUpdate(row) else { return nil }
        counters.newestDelivered = StoredUpdate(sequence: sequence, update: update)
    }
}

extension JSONValue {
    /// The integer, if it is a plausible sequence number or number of updates; otherwise `nil`.
    var count: Int64? { integerValue.flatMap { StoredRow.plausibleCounts.contains($0) ? $0 : nil } }
}
