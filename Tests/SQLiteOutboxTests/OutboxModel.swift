import ReportedText
import Reporting

/// The expected content of the outbox, in plain arrays.
struct OutboxModel {
    private(set) var pending: [StoredUpdate] = []
    private(set) var ledger = Ledger()
    private(set) var accepted: [Int64: LocationUpdate] = [:]
    private(set) var quarantined: [Int64: ReportedText] = [:]
    private var newestDelivered: StoredUpdate?

    mutating func append(_ stored: StoredUpdate) {
        pending.append(stored)
        accepted[stored.sequence] = stored.update
        ledger.accepted += 1
        ledger.pending += 1
    }

    mutating func deliver(_ batch: UploadBatch) {
        for stored in batch.pending where remove(stored.sequence) {
            ledger.delivered += 1
            newestDelivered = newer(newestDelivered, stored)
        }
    }

    mutating func quarantine(_ stored: StoredUpdate, reason: ReportedText) {
        guard remove(stored.sequence) else { return }
        ledger.quarantined += 1
        quarantined[stored.sequence] = reason
    }

    /// Makes a quarantined update pending again, with its old sequence.
    mutating func requeue(_ sequence: Int64) {
        guard let update = accepted[sequence], quarantined.removeValue(forKey: sequence) != nil else { return }
        pending.append(StoredUpdate(sequence: sequence, update: update))
        pending.sort { $0.sequence < $1.sequence }
        ledger.quarantined -= 1
        ledger.pending += 1
    }

    /// Evicts a quarantined update.
    mutating func discard(_ sequence: Int64) {
        guard quarantined.removeValue(forKey: sequence) != nil else { return }
        ledger.quarantined -= 1
        ledger.evicted += 1
    }

    var newest: StoredUpdate? { pending.reduce(newestDelivered) { newer($0, $1) } }

    func batch(maximumPastLocations: Int) -> UploadBatch? {
        guard let last = newest, !pending.isEmpty else { return nil }
        let past = pending.filter { $0.sequence != last.sequence }.prefix(maximumPastLocations)
            .sorted { ($0.update.timeOfFix, $0.sequence) < ($1.update.timeOfFix, $1.sequence) }
        let lastIsPending = pending.contains { $0.sequence == last.sequence }
        return UploadBatch(last: last, lastIsPending: lastIsPending, past: Array(past))
    }

    private mutating func remove(_ sequence: Int64) -> Bool {
        guard let index = pending.firstIndex(where: { $0.sequence == sequence }) else { return false }
        pending.remove(at: index)
        ledger.pending -= 1
        return true
    }

    private func newer(_ one: StoredUpdate?, _ other: StoredUpdate) -> StoredUpdate {
        guard let one else { return other }
        return (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence) ? other : one
    }
}
