import ReportedText
import Reporting

/// The store as its owner writes it: rows in, rows out, transactions. Their meaning is up to the engine.
final class OutboxStore {
    let rows: StoreRows
    let connection: SQLiteConnection
    private let begin: SQLiteStatement
    private let commit: SQLiteStatement
    private let insertRow: SQLiteStatement
    private let replaceRow: SQLiteStatement
    private let deleteRow: SQLiteStatement
    private let deleteRange: SQLiteStatement
    private let insertQuarantined: SQLiteStatement
    private let deleteQuarantined: SQLiteStatement
    private let trimQuarantined: SQLiteStatement
    /// Changes when another connection has written.
    private let dataVersion: SQLiteStatement
    private var settledChange: Int64?
    private let pageCount: SQLiteStatement
    private let freePageCount: SQLiteStatement

    /// Milliseconds: a tool's request takes a few. A live position doesn't wait for more.
    private static let patience: Int32 = 250

    /// How many quarantined updates are kept to be listed; the ledger counts all.
    static let quarantineLimit = 256

    /// Opens a store that exists and is complete. Nothing is written until `acceptChanges`.
    init(_ files: StoreFiles) throws(StoreError) {
        let connection = try SQLiteConnection(
            path: files.path, access: .readWrite, on: files.disk, patience: Self.patience)
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
        insertQuarantined = try SQLiteStatement(
            connection, "REPLACE INTO quarantine VALUES (\(StoredRow.parameters))")
        deleteQuarantined = try SQLiteStatement(connection, "DELETE FROM quarantine WHERE sequence = ?1")
        trimQuarantined = try SQLiteStatement(
            connection,
            """
            DELETE FROM quarantine WHERE sequence <=
              (SELECT sequence FROM quarantine ORDER BY sequence DESC LIMIT 1 OFFSET ?1)
            """)
        pageCount = try SQLiteStatement(connection, "PRAGMA page_count")
        freePageCount = try SQLiteStatement(connection, "PRAGMA freelist_count")
        dataVersion = try SQLiteStatement(connection, "PRAGMA data_version")
        rows = try StoreRows(connection)
        self.connection = connection
    }

    /// The number of the last change by another connection until it is settled; there is one after opening. Costs
    /// microseconds.
    func foreignChange() throws(StoreError) -> Int64? {
        let version = try dataVersion.answer()
        return version == settledChange ? nil : version
    }

    /// Whatever came with that change has been handled.
    func settle(_ change: Int64) { settledChange = change }

    /// What tools have asked for.
    func requests() throws(StoreError) -> RequestTable { try RequestTable(connection) }

    /// From now on closing may move the log into the database: what is there has been looked at and is sound.
    func acceptChanges() { connection.setCheckpointOnClose(true) }

    /// Closing must leave every byte as it is: there is something to be salvaged.
    func refuseChanges() { connection.setCheckpointOnClose(false) }

    /// Runs `body` as one transaction: on the disk when this returns, undone when it throws.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try begin.run()
        do {
            try body()
            try commit.run()
        } catch {
            if connection.isInTransaction {
                // The first error is the one to report; should this one fail too, the next BEGIN fails.
                do { try connection.execute("ROLLBACK") } catch {}
            }
            throw error
        }
    }

    func insert(_ record: UpdateRecord) throws(StoreError) { try insertRow.run(record.row.parameters) }

    /// Whether there was such a row.
    func remove(_ sequence: Int64) throws(StoreError) -> Bool {
        try deleteRow.run(sequence)
        return connection.changes == 1
    }

    /// Writes the ledger's row, under its next revision.
    ///
    /// - Throws: `damaged` for one that could not be read: the ledger was not what the rows are.
    func write(_ counters: inout OutboxCounters) throws(StoreError) {
        counters.revision += 1
        guard counters.isPlausible(upTo: OutboxCounters.Limit.record) else {
            throw StoreError(.damaged, path: connection.path, reason: "its ledger does not match its rows")
        }
        try replaceRow.run(rows.ledger(of: counters).row.parameters)
    }

    func insert(_ quarantined: QuarantinedUpdate) throws(StoreError) {
        try insertQuarantined.run(quarantined.row.parameters)
        try trimQuarantined.run(Int64(Self.quarantineLimit))
    }

    func removeQuarantined(_ sequence: Int64) throws(StoreError) { try deleteQuarantined.run(sequence) }

    /// Leaves `kept` of the rows of `sequences`, in full pages again. Deleting the others alone would leave pages half
    /// empty, which frees nothing.
    func replace(_ sequences: ClosedRange<Int64>, with kept: [UpdateRecord]) throws(StoreError) {
        try deleteRange.run([.integer(sequences.lowerBound), .integer(sequences.upperBound)])
        for record in kept { try insert(record) }
    }

    /// Bytes of the pages that hold something; free pages are used again before the file grows.
    func bytesInUse() throws(StoreError) -> Int64 {
        try (pageCount.answer() - freePageCount.answer()) * StoreFormat.pageSize
    }

    /// Whether the file is sound, by SQLite's own check, whose time grows with the size of the file.
    func check() throws(StoreError) {
        let answer = try connection.text("PRAGMA quick_check(1)") ?? "no answer"
        if answer != "ok" {
            throw StoreError(.damaged, path: connection.path, reason: ReportedText(answer).description)
        }
    }

    /// Moves everything from the log into the database, and leaves the log empty.
    ///
    /// - Throws: `busy`, too, when another connection still reads from the log: SQLite calls that no error.
    func emptyLog() throws(StoreError) {
        guard try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
            throw StoreError(
                .busy, path: connection.path, reason: "its write-ahead log cannot be emptied meanwhile")
        }
    }

    /// Pages of the database, with those that are only in the log.
    func pages() throws(StoreError) -> Int64 { try pageCount.answer() }

    /// Gives the space of a drained backlog back to the file system, when nearly all of the file is free.
    ///
    /// Then a VACUUM copies few pages; an automatic vacuum would cost a page more at many a commit.
    func compactIfNearlyEmpty() throws(StoreError) {
        let free = try freePageCount.answer()
        guard free >= 1024, try pages() - free <= 512 else { return }
        try connection.execute("VACUUM")
        try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    }
}
