import Reporting

/// The store as its owner uses it: rows and transactions. The engine gives them their meaning.
final class OutboxStore {
    let rows: StoreRows
    let connection: SQLiteConnection
    private let begin: SQLiteStatement
    private let commit: SQLiteStatement
    private let insertRow: SQLiteStatement
    private let replaceRow: SQLiteStatement
    private let deleteRow: SQLiteStatement
    private let deleteRange: SQLiteStatement
    private let quarantine: QuarantineStatements
    /// Reads a number that changes when another connection has written.
    private let dataVersion: SQLiteStatement
    private var settledChange: Int64?
    private let pageCount: SQLiteStatement
    private let freePageCount: SQLiteStatement

    /// The maximum wait for another connection's lock, in milliseconds: a tool's request takes only a few, and a live
    /// position must not wait longer.
    private static let lockTimeout: Int32 = 250

    /// The maximum number of quarantined updates that are kept for listing; the ledger counts all.
    static let quarantineLimit = 256

    /// Opens a store that exists and is complete. Until `acceptChanges` is called, closing the store moves nothing into
    /// the database.
    init(_ files: StoreFiles) throws(OutboxError) {
        let connection = try SQLiteConnection(
            path: files.path, access: .readWrite, on: files.disk, lockTimeout: Self.lockTimeout)
        connection.setCheckpointOnClose(false)
        try StoreSchema.check(connection)
        try connection.execute(StoreFormat.ownerSettings)
        try connection.useWriteAheadLog()
        begin = try SQLiteStatement(connection, "BEGIN IMMEDIATE")
        commit = try SQLiteStatement(connection, "COMMIT")
        insertRow = try SQLiteStatement(connection, "INSERT INTO updates VALUES (\(StoredRow.parameters))")
        replaceRow = try SQLiteStatement(connection, "REPLACE INTO updates VALUES (\(StoredRow.parameters))")
        deleteRow = try SQLiteStatement(connection, "DELETE FROM updates WHERE sequence = ?1")
        deleteRange = try SQLiteStatement(connection, "DELETE FROM updates WHERE sequence BETWEEN ?1 AND ?2")
        quarantine = try QuarantineStatements(connection)
        pageCount = try SQLiteStatement(connection, "PRAGMA page_count")
        freePageCount = try SQLiteStatement(connection, "PRAGMA freelist_count")
        dataVersion = try SQLiteStatement(connection, "PRAGMA data_version")
        rows = try StoreRows(connection)
        self.connection = connection
    }

    /// Returns the number of the last change by another connection; `nil` if that change has been settled. After
    /// opening there is always an unsettled change. Reading the number costs microseconds.
    func foreignChange() throws(OutboxError) -> Int64? {
        let version = try dataVersion.answer()
        return version == settledChange ? nil : version
    }

    /// Records that everything that came with `change` has been handled.
    func settle(_ change: Int64) { settledChange = change }

    /// Returns the table of the tools' requests.
    func requests() throws(OutboxError) -> RequestTable { try RequestTable(connection) }

    /// Makes closing move the log into the database. The store must have been checked and be sound.
    func acceptChanges() { connection.setCheckpointOnClose(true) }

    /// Keeps closing from changing any byte of a store that must be salvaged.
    func refuseChanges() { connection.setCheckpointOnClose(false) }

    /// Runs `body` as one transaction, which is on the disk when this function returns, and undone if it throws.
    func transaction(_ body: () throws(OutboxError) -> Void) throws(OutboxError) {
        try begin.run()
        do {
            try body()
            try commit.run()
        } catch {
            if connection.isInTransaction {
                // The first error is the one to report. If the rollback also fails, the next BEGIN fails.
                do { try connection.execute("ROLLBACK") } catch {}
            }
            throw error
        }
    }

    func insert(_ record: UpdateRecord) throws(OutboxError) { try insertRow.run(record.row) }

    /// Removes a row. Returns whether there was one.
    func remove(_ sequence: Int64) throws(OutboxError) -> Bool {
        try deleteRow.run(sequence)
        return connection.changes == 1
    }

    /// Writes the ledger's row under its next revision.
    ///
    /// - Throws: `damaged` if a number couldn't be read back, because the ledger doesn't match the rows.
    func write(_ counters: inout OutboxCounters) throws(OutboxError) {
        counters.revision += 1
        guard counters.isPlausible(upTo: OutboxCounters.Limit.record) else {
            throw OutboxError(.damaged, path: connection.path, .ledgerMismatch)
        }
        try replaceRow.run(rows.ledger(of: counters).row)
    }

    func insert(_ quarantined: QuarantinedUpdate) throws(OutboxError) {
        try quarantine.insert.run(quarantined.row)
        try quarantine.trim.run(Int64(Self.quarantineLimit))
    }

    func removeQuarantined(_ sequence: Int64) throws(OutboxError) { try quarantine.delete.run(sequence) }

    /// Replaces the rows in `sequences` with `kept`, in full pages. Merely deleting the other rows would leave
    /// half-empty pages and free no space.
    func replace(_ sequences: ClosedRange<Int64>, with kept: [UpdateRecord]) throws(OutboxError) {
        try deleteRange.run([.integer(sequences.lowerBound), .integer(sequences.upperBound)])
        for record in kept { try insert(record) }
    }

    /// Returns the number of bytes of the pages in use. Free pages are reused before the file grows.
    func bytesInUse() throws(OutboxError) -> Int64 {
        try (pageCount.answer() - freePageCount.answer()) * StoreFormat.pageSize
    }

    /// Moves everything from the log into the database, and empties the log.
    ///
    /// - Throws: `busy` even if another connection merely reads from the log, which isn't an error to SQLite.
    func truncateLog() throws(OutboxError) {
        guard try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
            throw OutboxError(.busy, path: connection.path, .logInUse)
        }
    }

    /// Returns the number of pages of the database, including those that are only in the log.
    func pages() throws(OutboxError) -> Int64 { try pageCount.answer() }

    /// Shrinks the file after a backlog has drained, if nearly all of it is free.
    ///
    /// A VACUUM then copies few pages; an automatic vacuum would write an additional page in many commits.
    func compactIfNearlyEmpty() throws(OutboxError) {
        let free = try freePageCount.answer()
        guard free >= 1024, try pages() - free <= 512 else { return }
        try connection.execute("VACUUM")
        try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    }
}

/// The statements that change the table of quarantined updates.
private final class QuarantineStatements {
    let insert: SQLiteStatement
    let delete: SQLiteStatement
    /// Removes the rows beyond the limit, the oldest first.
    let trim: SQLiteStatement

    init(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
        insert = try SQLiteStatement(connection, "REPLACE INTO quarantine VALUES (\(StoredRow.parameters))")
        delete = try SQLiteStatement(connection, "DELETE FROM quarantine WHERE sequence = ?1")
        trim = try SQLiteStatement(
            connection,
            """
            DELETE FROM quarantine WHERE sequence <=
              (SELECT sequence FROM quarantine ORDER BY sequence DESC LIMIT 1 OFFSET ?1)
            """)
    }
}
