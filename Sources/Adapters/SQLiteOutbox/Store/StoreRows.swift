import Reporting

/// A reader of a store's rows, used by its owner and by tools.
///
/// Each call reads a limited number of rows, in order of their sequence numbers. No read stays open afterwards, because
/// the write-ahead log can't start over while it is being read.
final class StoreRows {
    private let path: String
    private let row: SQLiteStatement
    private let ascending: SQLiteStatement
    private let descending: SQLiteStatement
    private let lowest: SQLiteStatement
    private let highest: SQLiteStatement
    private let count: SQLiteStatement
    private let quarantine: SQLiteStatement

    init(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
        func select(_ clauses: String, from table: String = StoreSchema.updates) throws(OutboxError) -> SQLiteStatement
        {
            try SQLiteStatement(connection, "SELECT \(StoredRow.columns) FROM \(table) \(clauses)")
        }
        path = connection.path
        row = try select("WHERE sequence = ?1")
        ascending = try select("WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")
        descending = try select("WHERE sequence > 0 ORDER BY sequence DESC LIMIT ?1")
        lowest = try SQLiteStatement(connection, "SELECT min(sequence) FROM updates WHERE sequence <> 0")
        highest = try SQLiteStatement(connection, "SELECT max(sequence) FROM updates")
        count = try SQLiteStatement(connection, "SELECT count(*) FROM (SELECT 1 FROM updates LIMIT ?1)")
        quarantine = try select(
            "ORDER BY sequence LIMIT \(OutboxStore.quarantineLimit + 1)", from: StoreSchema.quarantine)
    }

    /// Returns the ledger's row.
    ///
    /// - Throws: `damaged` if the ledger is missing or damaged.
    func ledger() throws(OutboxError) -> LedgerRecord {
        defer { row.reset() }
        try row.bind(LedgerRecord.sequence, at: 1)
        guard try row.step(), let record = StoredRow(row).flatMap({ LedgerRecord($0) }) else {
            throw damage(.ledgerUnreadable)
        }
        return record
    }

    /// Returns the pending update with this sequence number; `nil` if it isn't pending.
    func pending(_ sequence: Int64) throws(OutboxError) -> UpdateRecord? {
        guard sequence > LedgerRecord.sequence else { return nil }
        defer { row.reset() }
        try row.bind(sequence, at: 1)
        return try row.step() ? try decode(row) : nil
    }

    func isPending(_ sequence: Int64) throws(OutboxError) -> Bool {
        guard sequence > LedgerRecord.sequence else { return false }
        defer { row.reset() }
        try row.bind(sequence, at: 1)
        return try row.step()
    }

    /// Returns up to `limit` pending updates whose sequence numbers are higher than `sequence`, in order of acceptance.
    func oldest(after sequence: Int64 = 0, limit: Int) throws(OutboxError) -> [UpdateRecord] {
        try ascending.bind(max(0, sequence), at: 1)
        try ascending.bind(Int64(limit), at: 2)
        let records = try collect(ascending)
        var last = sequence
        for record in records {
            guard record.stored.sequence > last else {
                throw damage(.rowMisplaced(record.stored.sequence))
            }
            last = record.stored.sequence
        }
        return records
    }

    /// Returns up to `limit` pending updates, beginning with the one that was accepted last.
    func latest(limit: Int) throws(OutboxError) -> [UpdateRecord] {
        try descending.bind(Int64(limit), at: 1)
        return try collect(descending)
    }

    /// Returns the sequence number of the oldest pending update; 0 if nothing is pending.
    func lowestSequence() throws(OutboxError) -> Int64 { try sequence(lowest) }

    /// Returns the sequence number of the pending update that was accepted last; 0 if nothing is pending.
    func highestSequence() throws(OutboxError) -> Int64 { try sequence(highest) }

    private func sequence(_ statement: borrowing SQLiteStatement) throws(OutboxError) -> Int64 {
        let sequence = try statement.answer()
        guard sequence == 0 || StoredRow.plausibleSequences.contains(sequence) else {
            throw damage(.rowMisplaced(sequence))
        }
        return sequence
    }

    /// Counts the rows of pending updates, without reading their values. The structure of the table need not have been
    /// checked.
    ///
    /// - Throws: `damaged` if there are more than `limit`. In a damaged table that leads to the same page twice,
    ///   counting would never end.
    func countPending(atMost limit: Int64) throws(OutboxError) -> Int64 {
        try count.bind(limit + 2, at: 1)  // 1 for the ledger's row, 1 to notice that there are too many
        let pending = try count.answer() - 1
        guard pending <= limit else { throw damage(.ledgerMismatch) }
        return pending
    }

    func quarantined() throws(OutboxError) -> [QuarantinedUpdate] {
        let (updates, damage) = try readableQuarantined()
        if let damage { throw damage }
        return updates
    }

    /// Returns the quarantined updates that can be read. If some can't be read, also returns the first error.
    func readableQuarantined() throws(OutboxError) -> (updates: [QuarantinedUpdate], damage: OutboxError?) {
        defer { quarantine.reset() }
        var updates: [QuarantinedUpdate] = []
        var damage: OutboxError?
        do throws(OutboxError) {
            while try quarantine.step() {
                if let update = StoredRow(quarantine).flatMap({ QuarantinedUpdate($0) }) {
                    updates.append(update)
                } else if damage == nil {
                    damage = self.damage(.rowUnreadable(quarantine.integer(0)))
                }
            }
        } catch {
            guard error.code == .damaged else { throw error }
            damage = damage ?? error
        }
        return (updates, damage)
    }

    /// Checks all rows of the quarantine, which has only few.
    ///
    /// - Throws: `damaged` unless each row can be read, its update was accepted and isn't also pending, and the ledger
    ///   counts it.
    func checkQuarantine(_ counters: OutboxCounters) throws(OutboxError) {
        let updates = try quarantined()
        guard updates.count <= min(counters.quarantined.count, Int64(OutboxStore.quarantineLimit)) else {
            throw damage(.ledgerMismatch)
        }
        for sequence in updates.map(\.stored.sequence) {
            guard sequence <= counters.lastSequence, try !isPending(sequence) else {
                throw damage(.rowMisplaced(sequence))
            }
        }
    }

    /// Returns the ledger's counters, increased by the updates that were accepted after the ledger was written.
    ///
    /// `pendingCount` is the number of pending updates that the caller has counted. If it is `nil`, the number is
    /// computed from the ledger, without counting rows.
    func counters(pendingCount: Int64? = nil) throws(OutboxError) -> OutboxCounters {
        let ledger = try ledger()
        let highest = try highestSequence()
        var counters = ledger.counters
        counters.lastSequence = max(ledger.counters.lastSequence, highest)
        counters.pending = pendingCount ?? counters.pending + counters.lastSequence - ledger.counters.lastSequence
        let newest = highest > ledger.counters.lastSequence ? highest : ledger.newestSequence
        counters.newest = try pending(newest)?.stored ?? counters.newestDelivered
        return counters
    }

    /// Returns the ledger's row for `counters`. The oldest pending update is read from the store.
    func ledger(of counters: OutboxCounters) throws(OutboxError) -> LedgerRecord {
        let lowest = try lowestSequence()
        return LedgerRecord(counters, oldestPending: lowest > 0 ? lowest : counters.lastSequence + 1)
    }

    private func collect(_ statement: borrowing SQLiteStatement) throws(OutboxError) -> [UpdateRecord] {
        defer { statement.reset() }
        var records: [UpdateRecord] = []
        while try statement.step() { records.append(try decode(statement)) }
        return records
    }

    private func decode(_ statement: borrowing SQLiteStatement) throws(OutboxError) -> UpdateRecord {
        guard let record = StoredRow(statement).flatMap({ UpdateRecord($0) }) else {
            throw damage(.rowUnreadable(statement.integer(0)))
        }
        return record
    }

    private func damage(_ cause: OutboxError.Cause) -> OutboxError { OutboxError(.damaged, path: path, cause) }
}
