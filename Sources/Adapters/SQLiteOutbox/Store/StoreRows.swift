import Reporting

/// A reader of a store's rows, used by its owner and by tools.
///
/// Each call reads a limited number of rows, in order of their sequence numbers. No read stays open afterwards, because
/// the write-ahead log can't start over while it is being read.
final class StoreRows {
    private let path: String
    private let selectRow: SQLiteStatement
    private let selectAscending: SQLiteStatement
    private let selectLowest: SQLiteStatement
    private let selectHighest: SQLiteStatement
    private let findQuarantined: SQLiteStatement

    init(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
        path = connection.path
        let select = "SELECT \(StoredRow.columns) FROM updates"
        selectRow = try SQLiteStatement(connection, "\(select) WHERE sequence = ?1")
        selectAscending = try SQLiteStatement(
            connection, "\(select) WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")
        selectLowest = try SQLiteStatement(connection, "SELECT min(sequence) FROM updates WHERE sequence <> 0")
        selectHighest = try SQLiteStatement(connection, "SELECT max(sequence) FROM updates")
        findQuarantined = try SQLiteStatement(connection, "SELECT EXISTS (SELECT 1 FROM quarantine)")
    }

    /// Returns the ledger's row.
    ///
    /// - Throws: `damaged` if the ledger is missing or damaged.
    func ledger() throws(OutboxError) -> LedgerRecord {
        defer { selectRow.reset() }
        try selectRow.bind(LedgerRecord.sequence, at: 1)
        guard try selectRow.step(), let record = StoredRow(selectRow).flatMap({ LedgerRecord($0) }) else {
            throw damageError(.ledgerUnreadable)
        }
        return record
    }

    /// Returns the pending update with this sequence number; `nil` if it isn't pending.
    func pending(_ sequence: Int64) throws(OutboxError) -> UpdateRecord? {
        guard sequence > LedgerRecord.sequence else { return nil }
        defer { selectRow.reset() }
        try selectRow.bind(sequence, at: 1)
        return try selectRow.step() ? try record(from: selectRow) : nil
    }

    func isPending(_ sequence: Int64) throws(OutboxError) -> Bool {
        guard sequence > LedgerRecord.sequence else { return false }
        defer { selectRow.reset() }
        try selectRow.bind(sequence, at: 1)
        return try selectRow.step()
    }

    /// Returns up to `limit` pending updates whose sequence numbers are higher than `sequence`, in order of acceptance.
    func oldest(after sequence: Int64 = 0, limit: Int) throws(OutboxError) -> [UpdateRecord] {
        try selectAscending.bind(max(0, sequence), at: 1)
        try selectAscending.bind(Int64(limit), at: 2)
        let records = try records(from: selectAscending)
        var last = sequence
        for record in records {
            guard record.stored.sequence > last else {
                throw damageError(.rowMisplaced(record.stored.sequence))
            }
            last = record.stored.sequence
        }
        return records
    }

    /// Returns up to `limit` pending updates, beginning with the one that was accepted last.
    func latest(limit: Int) throws(OutboxError) -> [UpdateRecord] {
        let selectDescending = try SQLiteStatement(
            onConnectionOf: selectRow,
            "SELECT \(StoredRow.columns) FROM updates WHERE sequence > 0 ORDER BY sequence DESC LIMIT ?1")
        try selectDescending.bind(Int64(limit), at: 1)
        return try records(from: selectDescending)
    }

    /// Returns the sequence number of the oldest pending update; 0 if nothing is pending.
    func lowestSequence() throws(OutboxError) -> Int64 { try sequence(from: selectLowest) }

    /// Returns the sequence number of the pending update that was accepted last; 0 if nothing is pending.
    func highestSequence() throws(OutboxError) -> Int64 { try sequence(from: selectHighest) }

    private func sequence(from statement: borrowing SQLiteStatement) throws(OutboxError) -> Int64 {
        let sequence = try statement.singleInteger()
        guard sequence == 0 || StoredRow.plausibleSequences.contains(sequence) else {
            throw damageError(.rowMisplaced(sequence))
        }
        return sequence
    }

    /// Returns the number of rows of pending updates, without reading their values. The structure of the table need not
    /// have been checked.
    ///
    /// - Throws: `damaged` if there are more than `limit`. In a damaged table that leads to the same page twice,
    ///   counting would never end.
    func countPending(atMost limit: Int64) throws(OutboxError) -> Int64 {
        let countRows = try SQLiteStatement(
            onConnectionOf: selectRow, "SELECT count(*) FROM (SELECT 1 FROM updates LIMIT ?1)")
        try countRows.bind(limit + 2, at: 1)  // 1 for the ledger's row, 1 to notice that there are too many
        let pending = try countRows.singleInteger() - 1
        guard pending <= limit else { throw damageError(.ledgerMismatch) }
        return pending
    }

    func quarantined() throws(OutboxError) -> [QuarantinedUpdate] {
        let (updates, damage) = try readableQuarantined()
        if let damage { throw damage }
        return updates
    }

    /// Returns the quarantined updates that can be read. If some can't be read, also returns the first error.
    func readableQuarantined() throws(OutboxError) -> (updates: [QuarantinedUpdate], damage: OutboxError?) {
        let selectQuarantine = try SQLiteStatement(
            onConnectionOf: selectRow,
            """
            SELECT \(StoredRow.columns) FROM quarantine ORDER BY sequence LIMIT \(OutboxStore.quarantineLimit + 1)
            """)
        var updates: [QuarantinedUpdate] = []
        var damage: OutboxError?
        do throws(OutboxError) {
            while try selectQuarantine.step() {
                if let update = StoredRow(selectQuarantine).flatMap({ QuarantinedUpdate($0) }) {
                    updates.append(update)
                } else if damage == nil {
                    damage = damageError(.rowUnreadable(selectQuarantine.integer(0)))
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
        guard try findQuarantined.singleInteger() == 1 else { return }
        let updates = try quarantined()
        guard updates.count <= min(counters.quarantined.count, Int64(OutboxStore.quarantineLimit)) else {
            throw damageError(.ledgerMismatch)
        }
        for sequence in updates.map(\.stored.sequence) {
            guard sequence <= counters.lastSequence, try !isPending(sequence) else {
                throw damageError(.rowMisplaced(sequence))
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

    private func records(from statement: borrowing SQLiteStatement) throws(OutboxError) -> [UpdateRecord] {
        defer { statement.reset() }
        var records: [UpdateRecord] = []
        while try statement.step() { records.append(try record(from: statement)) }
        return records
    }

    private func record(from statement: borrowing SQLiteStatement) throws(OutboxError) -> UpdateRecord {
        guard let record = StoredRow(statement).flatMap({ UpdateRecord($0) }) else {
            throw damageError(.rowUnreadable(statement.integer(0)))
        }
        return record
    }

    private func damageError(_ cause: OutboxError.Cause) -> OutboxError { OutboxError(.damaged, path: path, cause) }
}
