import Reporting

/// The rows and transactions of a store, as its owner uses them. `OutboxEngine` decides what the rows mean.
final class OutboxStore {
    let rows: StoreRows
    let connection: SQLiteConnection
    private let pageCount: SQLiteStatement
    /// The statements that opening rarely needs; `nil` until the first use.
    private var deferred: DeferredStatements?
    private var handledChange: Int64?
    /// Whether a later close moves the log into the database. It must be `false` until a check has found no damage, and
    /// if the store must be salvaged as it is. SQLite's own setting stays off until `deinit`, because changing it makes
    /// SQLite prepare every statement again.
    var checkpointsOnClose = false

    /// The maximum wait for another connection's lock, in milliseconds. A tool's request holds the lock only for a few
    /// milliseconds, and a live position must not wait longer.
    private static let lockTimeout: Int32 = 250

    /// The maximum number of quarantined updates whose rows are kept, so that tools can list them. The ledger counts
    /// all of them.
    static let quarantineLimit = 256

    /// Opens a store that exists and is complete.
    init(_ files: StoreFiles) throws(OutboxError) {
        let connection = try SQLiteConnection(
            path: files.path, access: .readWrite, on: files.disk, lockTimeout: Self.lockTimeout)
        connection.setCheckpointOnClose(false)  // if the rest throws, `deinit` isn't called
        try StoreSchema.check(connection)
        try connection.execute(StoreFormat.ownerSettings)
        try connection.useWriteAheadLog()
        pageCount = try SQLiteStatement(connection, "PRAGMA page_count")
        rows = try StoreRows(connection)
        self.connection = connection
    }

    deinit { connection.setCheckpointOnClose(checkpointsOnClose) }

    /// Returns the statements that opening rarely needs. The first call prepares them, so that opening takes less
    /// time.
    private func deferredStatements() throws(OutboxError) -> DeferredStatements {
        if let deferred { return deferred }
        let prepared = try DeferredStatements(connection)
        deferred = prepared
        return prepared
    }

    /// Returns the number of the last change by another connection. Returns `nil` if that change has already been
    /// handled. Right after opening, there is always one to handle. Reading the number takes microseconds.
    func foreignChange() throws(OutboxError) -> Int64? {
        let version = try deferredStatements().dataVersion.singleInteger()
        return version == handledChange ? nil : version
    }

    /// Records that the requests that came with `change` have all been handled.
    func markHandled(_ change: Int64) { handledChange = change }

    /// Returns the table of the tools' requests.
    func requestTable() throws(OutboxError) -> RequestTable { try RequestTable(connection) }

    /// Runs `body` as one transaction. When this function returns, the changes are on the disk. If it throws, they have
    /// been undone.
    func transaction(_ body: () throws(OutboxError) -> Void) throws(OutboxError) {
        let statements = try deferredStatements()
        try statements.begin.run()
        do {
            try body()
            try statements.commit.run()
        } catch {
            if connection.isInTransaction {
                // The error of `body` or of the commit is thrown. If the rollback fails too, the next BEGIN will fail.
                do { try connection.execute("ROLLBACK") } catch {}
            }
            throw error
        }
    }

    func insert(_ record: UpdateRecord) throws(OutboxError) {
        try deferredStatements().insertRow.run(record.row)
    }

    /// Removes the row of a pending update. Returns whether it existed.
    func remove(_ sequence: Int64) throws(OutboxError) -> Bool {
        try deferredStatements().deleteRow.run(sequence)
        return connection.changes == 1
    }

    /// Writes the ledger's row, with a revision that is one higher.
    ///
    /// - Throws: `damaged` if a number is so implausible that it couldn't be read back. In that case the ledger doesn't
    ///   match the rows.
    func write(_ counters: inout OutboxCounters) throws(OutboxError) {
        counters.revision += 1
        guard counters.isPlausible(upTo: OutboxCounters.Limit.record) else {
            throw OutboxError(.damaged, path: connection.path, .ledgerMismatch)
        }
        try deferredStatements().replaceRow.run(rows.ledger(of: counters).row)
    }

    func insert(_ quarantined: QuarantinedUpdate) throws(OutboxError) {
        try SQLiteStatement(connection, "REPLACE INTO quarantine VALUES (\(StoredRow.parameters))")
            .run(quarantined.row)
        // Removes the oldest rows in excess of the limit.
        try connection.execute(
            """
            DELETE FROM quarantine WHERE sequence <=
              (SELECT sequence FROM quarantine ORDER BY sequence DESC LIMIT 1 OFFSET \(Self.quarantineLimit))
            """)
    }

    func removeQuarantined(_ sequence: Int64) throws(OutboxError) {
        try connection.execute("DELETE FROM quarantine WHERE sequence = \(sequence)")
    }

    /// Replaces the rows in the range `sequences` with `kept`. All of them are deleted and written again, so that they
    /// fill whole pages. Deleting only the others would leave half-empty pages and free no space.
    func replace(_ sequences: ClosedRange<Int64>, with kept: [UpdateRecord]) throws(OutboxError) {
        try deferredStatements().deleteRange.run([.integer(sequences.lowerBound), .integer(sequences.upperBound)])
        for record in kept { try insert(record) }
    }

    /// Returns the size of the pages in use, in bytes. Free pages don't count, because they are reused before the file
    /// grows.
    func bytesInUse() throws(OutboxError) -> Int64 {
        try (pageCount.singleInteger() - deferredStatements().freePageCount.singleInteger()) * StoreFormat.pageSize
    }

    /// Moves the whole content of the log into the database, and empties the log.
    ///
    /// - Throws: `busy` while another connection is using the log, even if only for reading. SQLite itself doesn't
    ///   report that as an error.
    func truncateLog() throws(OutboxError) {
        guard try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
            throw OutboxError(.busy, path: connection.path, .logInUse)
        }
    }

    /// Returns the number of pages of the database, including pages that only the log contains.
    func countPages() throws(OutboxError) -> Int64 { try pageCount.singleInteger() }

    /// Shrinks the database file if it is large and nearly all of it is free, as it is after a backlog has been sent.
    ///
    /// In that case VACUUM copies only few pages. SQLite's automatic vacuum isn't used, because it would write one more
    /// page in many commits.
    func compactIfNearlyEmpty() throws(OutboxError) {
        let free = try deferredStatements().freePageCount.singleInteger()
        guard free >= 1024, try countPages() - free <= 512 else { return }
        try connection.execute("VACUUM")
        try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    }
}

/// Statements for the owner of a store that opening rarely needs.
private final class DeferredStatements {
    let begin: SQLiteStatement
    let commit: SQLiteStatement
    let insertRow: SQLiteStatement
    let replaceRow: SQLiteStatement
    let deleteRow: SQLiteStatement
    let deleteRange: SQLiteStatement
    /// The statement that reads a number which changes whenever another connection writes.
    let dataVersion: SQLiteStatement
    let freePageCount: SQLiteStatement

    init(_ connection: borrowing SQLiteConnection) throws(OutboxError) {
        begin = try SQLiteStatement(connection, "BEGIN IMMEDIATE")
        commit = try SQLiteStatement(connection, "COMMIT")
        insertRow = try SQLiteStatement(connection, "INSERT INTO updates VALUES (\(StoredRow.parameters))")
        replaceRow = try SQLiteStatement(connection, "REPLACE INTO updates VALUES (\(StoredRow.parameters))")
        deleteRow = try SQLiteStatement(connection, "DELETE FROM updates WHERE sequence = ?1")
        deleteRange = try SQLiteStatement(connection, "DELETE FROM updates WHERE sequence BETWEEN ?1 AND ?2")
        dataVersion = try SQLiteStatement(connection, "PRAGMA data_version")
        freePageCount = try SQLiteStatement(connection, "PRAGMA freelist_count")
    }
}
