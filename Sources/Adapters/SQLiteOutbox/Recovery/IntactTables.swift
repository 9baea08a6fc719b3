import Reporting

/// The tables of a damaged store, if they can still be trusted. SQLite must find their structure intact, and their
/// number of rows must match the ledger.
struct IntactTables {
    let ledger: LedgerRecord
    /// The last sequence number that the tables or the ledger account for.
    let lastSequence: Int64
    /// The sequence numbers of the damaged rows in the table of pending updates.
    private let unreadable: Set<Int64>
    private let unreadableQuarantined: Set<Int64>

    /// Copies all undamaged rows into `builder`. Returns `nil` if the tables can't be trusted.
    ///
    /// - Throws: only errors of `builder`, which writes the new store.
    init?(_ files: StoreFiles, known: OutboxCounters?, into builder: StoreBuilder) throws(OutboxError) {
        let connection: SQLiteConnection
        do throws(OutboxError) { connection = try Self.open(files) } catch { return nil }
        var pending: Int64 = 0
        var last: Int64 = 0
        var unreadable: Set<Int64> = []
        var unreadableQuarantined: Set<Int64> = []
        var stored: LedgerRecord?
        // For each row that can't be read here, the whole file is later searched for a copy.
        let hasUpdates = try Self.forEachRow(of: StoreSchema.updates, in: connection) {
            sequence, row throws(OutboxError) in
            if sequence == LedgerRecord.sequence {
                stored = row.flatMap { LedgerRecord($0) }.flatMap { StoreSalvage.trusts($0.counters) ? $0 : nil }
                return
            }
            pending += 1
            last = max(last, sequence)
            if let row, UpdateRecord(row) != nil {
                try builder.insert(row)
            } else {
                unreadable.insert(sequence)
            }
        }
        let hasQuarantine = try Self.forEachRow(of: StoreSchema.quarantine, in: connection) {
            sequence, row throws(OutboxError) in
            if let row, QuarantinedUpdate(row) != nil {
                try builder.insert(row)
            } else {
                unreadableQuarantined.insert(sequence)
            }
        }
        guard hasUpdates, hasQuarantine, last <= OutboxCounters.Limit.repair else { return nil }
        if let known, var counters = stored?.counters {
            counters.lastSequence = max(counters.lastSequence, last)
            // The number of rows alone doesn't show an older state. It may match because one update was delivered and
            // another one accepted since then.
            if counters.isOlder(than: known) { return nil }
        }
        // The tables may contain a commit whose sync failed. In that case their ledger is later than the counters in
        // memory.
        guard let ledger = LedgerRecord.later(known.map { LedgerRecord($0, oldestPending: 0) }, stored) else {
            return nil
        }
        let lastSequence = max(last, ledger.counters.lastSequence)
        let expected = ledger.counters.pending + lastSequence - ledger.counters.lastSequence
        guard pending == expected else { return nil }
        self.ledger = ledger
        self.lastSequence = lastSequence
        self.unreadable = unreadable
        self.unreadableQuarantined = unreadableQuarantined
    }

    /// Whether the tables contain this row or show that it was removed. In both cases, a copy found elsewhere isn't
    /// used.
    func accounts(for row: StoredRow) -> Bool {
        let unreadable = row.isQuarantined ? unreadableQuarantined : unreadable
        return row.sequence <= lastSequence && !unreadable.contains(row.sequence)
    }

    /// Calls `body` with the sequence number and the content of each row of `table`. The content is `nil` if the row is
    /// damaged. Returns whether all rows could be read.
    private static func forEachRow(
        of table: String, in connection: borrowing SQLiteConnection,
        _ body: (Int64, StoredRow?) throws(OutboxError) -> Void
    ) throws(OutboxError) -> Bool {
        let statement: SQLiteStatement
        do throws(OutboxError) {
            statement = try SQLiteStatement(
                connection, "SELECT \(StoredRow.columns) FROM \(table) ORDER BY sequence")
        } catch { return false }
        while true {
            let hasRow: Bool
            do throws(OutboxError) { hasRow = try statement.step() } catch { return false }
            guard hasRow else { return true }
            try body(statement.integer(0), StoredRow(statement))
        }
    }

    /// Opens the damaged database for reading, and checks its schema and structure. Returns the connection.
    ///
    /// - Throws: the reason why the tables can't be trusted.
    private static func open(_ files: StoreFiles) throws(OutboxError) -> SQLiteConnection {
        // The header is read before the database is opened, because SQLite would remove the log of an empty database.
        _ = try StoreHeader(files, at: files.path, checksVersion: false)
        let connection = try SQLiteConnection(path: files.path, access: .readOnly, on: files.disk)
        connection.setCheckpointOnClose(false)
        try connection.execute(StoreFormat.readerSettings)
        try StoreSchema.requireSchema(in: connection)
        try connection.checkStructure()
        return connection
    }
}
