/// What a damaged store's own tables still say, when SQLite finds their structure sound and the count agrees.
struct IntactTables {
    let ledger: LedgerRecord
    /// The last sequence that the tables know of.
    let lastSequence: Int64
    /// Rows there are, readable or not.
    let pending: Int64
    /// Rows whose bodies fail their checksum.
    let unreadable: Set<Int64>
    /// Those of the quarantine.
    let unreadableQuarantined: Set<Int64>

    /// Takes the readable rows over into `builder`; `nil` when the tables cannot be trusted.
    ///
    /// - Throws: when `builder` cannot write.
    init?(_ files: StoreFiles, known: OutboxCounters?, into builder: StoreBuilder) throws(StoreError) {
        let connection: SQLiteConnection
        do throws(StoreError) { connection = try Self.open(files) } catch { return nil }
        var (pending, last, unreadable) = (Int64(0), Int64(0), Set<Int64>())
        var unreadableQuarantined: Set<Int64> = []
        var stored: LedgerRecord?
        // What cannot be read here is looked for as loose records.
        let hasRecords = try Self.forEachRow(of: "records", connection) { id, bytes throws(StoreError) in
            if id == LedgerRecord.id {
                stored = LedgerRecord(bytes[...]).flatMap { StoreSalvage.trusts($0.counters) ? $0 : nil }
                return
            }
            pending += 1
            if let sequence = Self.sequence(of: bytes, near: id) {
                last = max(last, sequence)
                try builder.insertPending(bytes, sequence: sequence)
            } else {
                last = max(last, id)
                unreadable.insert(id)
            }
        }
        let hasQuarantine = try Self.forEachRow(of: "quarantined", connection) { id, bytes throws(StoreError) in
            if QuarantinedUpdate(bytes[...], sequence: id) == nil {
                unreadableQuarantined.insert(id)
            } else {
                try builder.insertQuarantined(bytes, sequence: id)
            }
        }
        guard hasRecords, hasQuarantine, last <= OutboxCounters.Limit.repair else { return nil }
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
        (self.ledger, self.lastSequence, self.pending) = (ledger, lastSequence, pending)
        (self.unreadable, self.unreadableQuarantined) = (unreadable, unreadableQuarantined)
    }

    /// The sequence that the row was written for: `id`, or one of which a single bit was flipped. `nil` when its body
    /// is damaged.
    private static func sequence(of bytes: [UInt8], near id: Int64) -> Int64? {
        if UpdateRecord(bytes[...], sequence: id) != nil { return id }
        return (0..<52).lazy.map { id ^ (1 << $0) }.first { UpdateRecord(bytes[...], sequence: $0) != nil }
    }

    /// Calls `body` for each row of `table`; whether all could be read.
    private static func forEachRow(
        of table: String, _ connection: borrowing SQLiteConnection,
        _ body: (Int64, [UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        let statement: SQLiteStatement
        do throws(StoreError) {
            statement = try SQLiteStatement(connection, "SELECT id, body FROM \(table) ORDER BY id")
        } catch { return false }
        while true {
            let isThere: Bool
            do throws(StoreError) { isThere = try statement.step() } catch { return false }
            guard isThere else { return true }
            try body(statement.integer(0), statement.blob(1))
        }
    }

    /// - Throws: for whatever reason there are no tables to go by.
    private static func open(_ files: StoreFiles) throws(StoreError) -> SQLiteConnection {
        // SQLite removes the log of an empty database.
        _ = try StoreHeader(files, at: files.path, checksVersion: false)
        let connection = try SQLiteConnection(path: files.path, access: .readOnly, on: files.disk)
        connection.setCheckpointOnClose(false)
        try connection.execute(StoreFormat.readerSettings)
        guard try files.schema.isKnown(connection), try connection.text("PRAGMA quick_check(1)") == "ok" else {
            throw StoreError(.damaged, path: files.path, reason: "its structure is damaged")
        }
        return connection
    }
}
