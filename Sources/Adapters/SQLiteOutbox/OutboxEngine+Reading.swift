import LocationReporting

/// What there is to send, and the account.
extension OutboxEngine {
    /// - Throws: `full`, too, while more acknowledgements wait for space than memory is to hold.
    func nextBatch(maximumPastLocations: Int) throws(OutboxError) -> UploadBatch? {
        try perform { store throws(StoreError) in
            if isUnwrittenFull { try withReserve { () throws(StoreError) in try commit(store) } }
            let limit = max(0, maximumPastLocations)
            let onDisk = try oldest(limit + unwritten.count + 1, store)
            let current = current
            guard current.pending > Int64(unwritten.count), let last = current.newest else { return nil }
            let isKept = try isPending(last.sequence, store)
            let lastIsPending = isKept && unwritten[last.sequence] == nil
            let past = (onDisk + gathered.stored(after: account.lastSequence)).lazy
                .filter { $0.sequence != last.sequence && self.unwritten[$0.sequence] == nil }
                .prefix(limit)
            let inOrder = past.sorted { one, other in
                (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence)
            }
            return UploadBatch(last: last, lastIsPending: lastIsPending, past: inOrder)
        }
    }

    func newest() throws(OutboxError) -> StoredUpdate? {
        try perform { _ throws(StoreError) in current.newest }
    }

    func ledger() throws(OutboxError) -> Ledger { try summary().ledger }

    /// The account as it stands, with what is not written yet.
    func summary() throws(OutboxError) -> StoreSummary {
        try perform { _ throws(StoreError) in
            var summary = StoreSummary(current)
            summary.ledger.pending -= Int64(unwritten.count)
            summary.ledger.delivered += Int64(unwritten.count)
            return summary
        }
    }

    /// The oldest rows; there are as many as the ledger says, or a backlog would never end, or never begin.
    private func oldest(_ limit: Int, _ store: OutboxStore) throws(StoreError) -> [StoredUpdate] {
        let rows = try store.rows.oldest(limit: limit).map(\.stored)
        guard rows.count < limit ? rows.count == account.pending : rows.count <= account.pending else {
            throw StoreError(.damaged, path: files.path, reason: "its ledger counts other rows than there are")
        }
        return rows
    }

    /// Whether an update waits, or has been acknowledged and is not written yet.
    func isPending(_ sequence: Int64, _ store: OutboxStore) throws(StoreError) -> Bool {
        sequence > account.lastSequence
            ? sequence <= account.lastSequence + Int64(gathered.count) : try store.rows.isPending(sequence)
    }

    /// The account with what is gathered.
    private var current: OutboxAccount { gathered.added(to: account) }
}
