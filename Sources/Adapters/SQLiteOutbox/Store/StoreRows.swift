import Reporting

/// Reads the rows of a store, for its owner and for tools alike.
///
/// Reads go by sequence from a starting point, a bounded number at a time: no read stays open between calls, which
/// would keep the write-ahead log from being reused.
final class StoreRows {
    private let path: String
    private let row: SQLiteStatement
    private let ascending: SQLiteStatement
    private let descending: SQLiteStatement
    private let lowest: SQLiteStatement
    private let highest: SQLiteStatement
    private let count: SQLiteStatement
    private let quarantine: SQLiteStatement

    init(_ connection: borrowing SQLiteConnection) throws(StoreError) {
        func select(_ clauses: String, from table: String = StoreSchema.updates) throws(StoreError) -> SQLiteStatement {
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

    /// - Throws: `damaged` when the ledger is missing or is not what was written.
    func ledger() throws(StoreError) -> LedgerRecord {
        defer { row.reset() }
        try row.bind(LedgerRecord.sequence, at: 1)
        guard try row.step(), let record = StoredRow(row).flatMap({ LedgerRecord($0) }) else {
            throw damage("the ledger cannot be read")
        }
        return record
    }

    /// The pending update of that sequence; `nil` when it is not pending.
    func pending(_ sequence: Int64) throws(StoreError) -> UpdateRecord? {
        guard sequence > LedgerRecord.sequence else { return nil }
        defer { row.reset() }
        try row.bind(sequence, at: 1)
        return try row.step() ? try decode(row) : nil
    }

    func isPending(_ sequence: Int64) throws(StoreError) -> Bool {
        guard sequence > LedgerRecord.sequence else { return false }
        defer { row.reset() }
        try row.bind(sequence, at: 1)
        return try row.step()
    }

    /// The oldest pending updates after `sequence`, in order of acceptance.
    func oldest(after sequence: Int64 = 0, limit: Int) throws(StoreError) -> [UpdateRecord] {
        try ascending.bind(max(0, sequence), at: 1)
        try ascending.bind(Int64(limit), at: 2)
        let records = try collect(ascending)
        var last = sequence
        for record in records {
            guard record.stored.sequence > last else {
                throw damage("update \(record.stored.sequence) is not in its place")
            }
            last = record.stored.sequence
        }
        return records
    }

    /// The last accepted of the pending updates, latest first.
    func latest(limit: Int) throws(StoreError) -> [UpdateRecord] {
        try descending.bind(Int64(limit), at: 1)
        return try collect(descending)
    }

    /// The sequence of the oldest pending update; 0 when nothing is pending.
    func lowestSequence() throws(StoreError) -> Int64 { try sequence(lowest) }

    /// The sequence of the last accepted of the pending updates; 0 when nothing is pending.
    func highestSequence() throws(StoreError) -> Int64 { try sequence(highest) }

    private func sequence(_ statement: borrowing SQLiteStatement) throws(StoreError) -> Int64 {
        let sequence = try statement.answer()
        guard sequence == 0 || StoredRow.plausibleSequences.contains(sequence) else {
            throw damage("there cannot be an update \(sequence)")
        }
        return sequence
    }

    /// Counts the pending updates one by one (their values are not read), in a tree that has not been checked.
    ///
    /// - Throws: `damaged` when there are more than `limit`: a tree that leads to the same page twice has no end.
    func countPending(atMost limit: Int64) throws(StoreError) -> Int64 {
        try count.bind(limit + 2, at: 1)  // with the ledger's row
        let pending = try count.answer() - 1
        guard pending <= limit else {
            throw damage("it has more rows than are possible")
        }
        return pending
    }

    func quarantined() throws(StoreError) -> [QuarantinedUpdate] {
        let (updates, damage) = try readableQuarantined()
        if let damage { throw damage }
        return updates
    }

    /// Returns the quarantined updates that can be read, and the first thing that keeps others from it.
    func readableQuarantined() throws(StoreError) -> (updates: [QuarantinedUpdate], damage: StoreError?) {
        defer { quarantine.reset() }
        var updates: [QuarantinedUpdate] = []
        var damage: StoreError?
        do throws(StoreError) {
            while try quarantine.step() {
                if let update = StoredRow(quarantine).flatMap({ QuarantinedUpdate($0) }) {
                    updates.append(update)
                } else if damage == nil {
                    damage = self.damage("quarantined update \(quarantine.integer(0)) cannot be read")
                }
            }
        } catch {
            guard error.kind == .damaged else { throw error }
            damage = damage ?? error
        }
        return (updates, damage)
    }

    /// Looks at all of the quarantine, of which little is kept.
    ///
    /// - Throws: `damaged` unless each row can be read, was accepted, is not pending as well, and is counted.
    func checkQuarantine(_ counters: OutboxCounters) throws(StoreError) {
        let updates = try quarantined()
        guard updates.count <= min(counters.quarantined.count, Int64(OutboxStore.quarantineLimit)) else {
            throw damage("its ledger does not match its rows")
        }
        for sequence in updates.map(\.stored.sequence) {
            guard sequence <= counters.lastSequence, try !isPending(sequence) else {
                throw damage("quarantined update \(sequence) is not in its place")
            }
        }
    }

    /// The counters as they stand: what the ledger says, and what was appended after it.
    ///
    /// `pendingCount` is counted by the caller or `nil`: then the ledger's own count is kept, which reads nothing.
    func counters(pendingCount: Int64? = nil) throws(StoreError) -> OutboxCounters {
        let ledger = try ledger()
        let highest = try highestSequence()
        var counters = ledger.counters
        counters.lastSequence = max(ledger.counters.lastSequence, highest)
        counters.pending = pendingCount ?? counters.pending + counters.lastSequence - ledger.counters.lastSequence
        let newest = highest > ledger.counters.lastSequence ? highest : ledger.newestSequence
        counters.newest = try pending(newest)?.stored ?? counters.newestDelivered
        return counters
    }

    /// The row that says the same as `counters`.
    func ledger(of counters: OutboxCounters) throws(StoreError) -> LedgerRecord {
        let lowest = try lowestSequence()
        return LedgerRecord(counters, oldestPending: lowest > 0 ? lowest : counters.lastSequence + 1)
    }

    private func collect(_ statement: borrowing SQLiteStatement) throws(StoreError) -> [UpdateRecord] {
        defer { statement.reset() }
        var records: [UpdateRecord] = []
        while try statement.step() { records.append(try decode(statement)) }
        return records
    }

    private func decode(_ statement: borrowing SQLiteStatement) throws(StoreError) -> UpdateRecord {
        guard let record = StoredRow(statement).flatMap({ UpdateRecord($0) }) else {
            throw damage("update \(statement.integer(0)) fails its checksum")
        }
        return record
    }

    private func damage(_ reason: String) -> StoreError { StoreError(.damaged, path: path, reason: reason) }
}
