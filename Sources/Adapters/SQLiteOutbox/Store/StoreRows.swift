import Reporting

/// The reader of a store's rows, for its owner and for tools.
///
/// It reads a bounded number of rows in order of sequence. No read stays open between calls, because that would keep
/// the write-ahead log from being reused.
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

    /// Returns the pending update with this sequence; `nil` if it isn't pending.
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

    /// Returns the first pending updates after `sequence`, in order of acceptance.
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

    /// Returns the pending updates that were accepted last, latest first.
    func latest(limit: Int) throws(OutboxError) -> [UpdateRecord] {
        try descending.bind(Int64(limit), at: 1)
        return try collect(descending)
    }

    /// Returns the sequence of the oldest pending update; 0 if nothing is pending.
    func lowestSequence() throws(OutboxError) -> Int64 { try sequence(lowest) }

    /// Returns the sequence of the pending update that was accepted last; 0 if nothing is pending.
    func highestSequence() throws(OutboxError) -> Int64 { try sequence(highest) }

    private func sequence(_ statement: borrowing SQLiteStatement) throws(OutboxError) -> Int64 {
        let sequence = try statement.answer()
        guard sequence == 0 || StoredRow.plausibleSequences.contains(sequence) else {
            throw damage(.rowMisplaced(sequence))
        }
        return sequence
    }

    /// Counts the pending updates one by one, without reading their values, in a tree that hasn't been checked.
    ///
    /// - Throws: `damaged` if there are more than `limit`: a tree that leads to the same page twice is endless.
    func countPending(atMost limit: Int64) throws(OutboxError) -> Int64 {
        try count.bind(limit + 2, at: 1)  // with the ledger's row
        let pending = try count.answer() - 1
        guard pending <= limit else { throw damage(.ledgerMismatch) }
        return pending
    }

    func quarantined() throws(OutboxError) -> [QuarantinedUpdate] {
        let (updates, damage) = try readableQuarantined()
        if let damage { throw damage }
        return updates
    }

    /// Returns the quarantined updates that can be read, and the first damage that makes others unreadable.
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

    /// Checks the whole quarantine, which is small.
    ///
    /// - Throws: `damaged` unless each row can be read, was accepted, isn't also pending, and is counted.
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

    /// Returns the ledger's counters, plus the updates that were appended later.
    ///
    /// `pendingCount` is the number of pending updates as counted by the caller. If it is `nil`, the ledger's count is
    /// used, which reads no rows.
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

    /// Returns the ledger's row for `counters`.
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
