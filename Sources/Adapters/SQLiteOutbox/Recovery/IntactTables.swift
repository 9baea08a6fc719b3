import Reporting

/// What a damaged store's own tables still say, when SQLite finds their structure sound and the count agrees.
struct IntactTables {
    let ledger: LedgerRecord
    /// The last sequence that the tables know of.
    let lastSequence: Int64
    /// The rows that aren't what was written.
    private let unreadable: Set<Int64>
    private let unreadableQuarantined: Set<Int64>

    /// Takes the readable rows over into `builder`; `nil` when the tables cannot be trusted.
    ///
    /// - Throws: when `builder` cannot write.
    init?(_ files: StoreFiles, known: OutboxCounters?, into builder: StoreBuilder) throws(OutboxError) {
        let connection: SQLiteConnection
        do throws(OutboxError) { connection = try Self.open(files) } catch { return nil }
        var pending: Int64 = 0
        var last: Int64 = 0
        var unreadable: Set<Int64> = []
        var unreadableQuarantined: Set<Int64> = []
        var stored: LedgerRecord?
        // What cannot be read here is looked for as loose rows.
        let hasUpdates = try Self.forEachRow(of: StoreSchema.updates, connection) { sequence, row throws(OutboxError) in
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
        let hasQuarantine = try Self.forEachRow(of: StoreSchema.quarantine, connection) {
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
            // The count may be right all the same: one delivered, one accepted.
            if counters.isOlder(than: known) { return nil }
        }
        // A commit whose sync failed may be there, later than what is in memory.
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

    /// Whether the tables give the row, or say that it is gone: an old copy is worthless then.
    func accounts(for row: StoredRow) -> Bool {
        let unreadable = row.isQuarantined ? unreadableQuarantined : unreadable
        return row.sequence <= lastSequence && !unreadable.contains(row.sequence)
    }

    /// Calls `body` for each row of `table`, with `nil` for one that isn't what was written. Returns whether all could
    /// be read.
    private static func forEachRow(
        of table: String, _ connection: borrowing SQLiteConnection,
        _ body: (Int64, StoredRow?) throws(OutboxError) -> Void
    ) throws(OutboxError) -> Bool {
        let statement: SQLiteStatement
        do throws(OutboxError) {
            statement = try SQLiteStatement(
                connection, "SELECT \(StoredRow.columns) FROM \(table) ORDER BY sequence")
        } catch { return false }
        while true {
            let isThere: Bool
            do throws(OutboxError) { isThere = try statement.step() } catch { return false }
            guard isThere else { return true }
            try body(statement.integer(0), StoredRow(statement))
        }
    }

    /// - Throws: for whatever reason there are no tables to go by.
    private static func open(_ files: StoreFiles) throws(OutboxError) -> SQLiteConnection {
        // SQLite removes the log of an empty database.
        _ = try StoreHeader(files, at: files.path, checksVersion: false)
        let connection = try SQLiteConnection(path: files.path, access: .readOnly, on: files.disk)
        connection.setCheckpointOnClose(false)
        try connection.execute(StoreFormat.readerSettings)
        try StoreSchema.require(connection)
        try connection.checkStructure()
        return connection
    }
}
