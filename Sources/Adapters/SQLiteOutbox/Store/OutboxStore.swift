import LocationReporting
import ReportedText

/// The store as its owner writes it: rows in, rows out, transactions. What they mean is the engine's affair.
final class OutboxStore {
    let rows: StoreRows
    private let connection: SQLiteConnection
    private let begin: SQLiteStatement
    private let commit: SQLiteStatement
    private let insertRow: SQLiteStatement
    private let replaceRow: SQLiteStatement
    private let deleteRow: SQLiteStatement
    private let insertQuarantined: SQLiteStatement
    private let deleteQuarantined: SQLiteStatement
    private let trimQuarantined: SQLiteStatement
    /// `nil` in a store of schema version 1, until it is migrated.
    private(set) var requests: RequestTable?
    /// Changes when another connection has written.
    private let dataVersion: SQLiteStatement
    private var settledChange: Int64?
    private let pageCount: SQLiteStatement
    private let freePageCount: SQLiteStatement

    /// How many quarantined updates are kept to be listed; the count in the ledger goes on.
    static let quarantineLimit = 256

    /// Opens a store that exists and is complete. Nothing is written until `acceptChanges`.
    ///
    /// `pageLimit` makes the store full at that many pages, as a full disk does.
    init(_ files: StoreFiles, pageLimit: Int64? = nil) throws(StoreError) {
        let connection = try SQLiteConnection(path: files.path, access: .readWrite, on: files.disk)
        connection.setCheckpointOnClose(false)
        let version = try StoreSchema.version(of: connection)
        try connection.execute(StoreFormat.ownerSettings)
        try connection.useWriteAheadLog()
        if let pageLimit { _ = try connection.integer("PRAGMA max_page_count = \(pageLimit)") }
        begin = try SQLiteStatement(connection, "BEGIN IMMEDIATE")
        commit = try SQLiteStatement(connection, "COMMIT")
        insertRow = try SQLiteStatement(connection, "INSERT INTO records VALUES (?1, ?2)")
        replaceRow = try SQLiteStatement(connection, "REPLACE INTO records VALUES (?1, ?2)")
        deleteRow = try SQLiteStatement(connection, "DELETE FROM records WHERE id = ?1")
        insertQuarantined = try SQLiteStatement(connection, "REPLACE INTO quarantined VALUES (?1, ?2)")
        deleteQuarantined = try SQLiteStatement(connection, "DELETE FROM quarantined WHERE id = ?1")
        trimQuarantined = try SQLiteStatement(
            connection,
            "DELETE FROM quarantined WHERE id <= (SELECT id FROM quarantined ORDER BY id DESC LIMIT 1 OFFSET ?1)")
        pageCount = try SQLiteStatement(connection, "PRAGMA page_count")
        freePageCount = try SQLiteStatement(connection, "PRAGMA freelist_count")
        dataVersion = try SQLiteStatement(connection, "PRAGMA data_version")
        rows = try StoreRows(connection)
        requests = version == 1 ? nil : try RequestTable(connection)
        self.connection = connection
    }

    /// Brings a store of an older schema up to date, in place and in one transaction; does nothing for one that is.
    func migrate(_ account: inout OutboxAccount) throws(StoreError) {
        guard requests == nil else { return }
        var next = account
        try transaction { () throws(StoreError) in
            next.narrowQuarantine(to: try rows.quarantined().map(\.stored))
            try connection.execute(StoreSchema.requests)
            try write(&next)
            try connection.execute("PRAGMA user_version = \(StoreFormat.version)")
        }
        account = next
        requests = try RequestTable(connection)
    }

    /// The number of the last change by another connection until it is settled; there is one after opening. Costs
    /// microseconds.
    func foreignChange() throws(StoreError) -> Int64? {
        let version = try integer(dataVersion)
        return version == settledChange ? nil : version
    }

    /// Whatever came with that change has been taken up.
    func settle(_ change: Int64) { settledChange = change }

    /// From now on closing may move the log into the database: what is there has been looked at and is sound.
    func acceptChanges() { connection.setCheckpointOnClose(true) }

    /// Closing shall leave every byte as it is: there is something to be salvaged.
    func refuseChanges() { connection.setCheckpointOnClose(false) }

    /// Runs `body` as one transaction: on the disk when this returns, undone when it throws.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try begin.run()
        do {
            try body()
            try commit.run()
        } catch {
            if connection.isInTransaction {
                // The first error is the one to tell; should this one fail too, the next BEGIN says so.
                do { try connection.execute("ROLLBACK") } catch {}
            }
            throw error
        }
    }

    func insert(_ record: UpdateRecord) throws(StoreError) {
        try insertRow.bind(record.stored.sequence, at: 1)
        try insertRow.bind(record.bytes, at: 2)
        try insertRow.run()
    }

    /// Whether there was such a row.
    func remove(_ sequence: Int64) throws(StoreError) -> Bool {
        try deleteRow.bind(sequence, at: 1)
        try deleteRow.run()
        return connection.changes == 1
    }

    /// Writes the ledger's row, under its next revision.
    ///
    /// - Throws: `damaged` for one that could not be read: the ledger was not what the rows are.
    func write(_ account: inout OutboxAccount) throws(StoreError) {
        account.revision += 1
        guard account.isPlausible(upTo: OutboxAccount.Limit.record) else {
            throw StoreError(.damaged, path: connection.path, reason: "its ledger counts other rows than there are")
        }
        let lowest = try rows.lowestSequence()
        let record = LedgerRecord(account, oldestPending: lowest > 0 ? lowest : account.lastSequence + 1)
        try replaceRow.bind(LedgerRecord.id, at: 1)
        try replaceRow.bind(record.bytes, at: 2)
        try replaceRow.run()
    }

    func insert(_ quarantined: QuarantinedUpdate) throws(StoreError) {
        try insertQuarantined.bind(quarantined.stored.sequence, at: 1)
        try insertQuarantined.bind(quarantined.bytes, at: 2)
        try insertQuarantined.run()
        try trimQuarantined.bind(Int64(Self.quarantineLimit), at: 1)
        try trimQuarantined.run()
    }

    func removeQuarantined(_ sequence: Int64) throws(StoreError) {
        try deleteQuarantined.bind(sequence, at: 1)
        try deleteQuarantined.run()
    }

    /// Leaves `kept` of the rows in `block`, in pages that are full again: rows that merely went would leave pages half
    /// empty, and those free nothing.
    func replace(_ block: [UpdateRecord], with kept: [UpdateRecord]) throws(StoreError) {
        for record in block { _ = try remove(record.stored.sequence) }
        for record in kept { try insert(record) }
    }

    /// Bytes of the pages that hold something; free pages are used again before the file grows.
    func bytesInUse() throws(StoreError) -> Int64 {
        try (integer(pageCount) - integer(freePageCount)) * StoreFormat.pageSize
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
    /// - Throws: `unusable`, too, when another connection still reads from the log: SQLite calls that no error.
    func emptyLog() throws(StoreError) {
        guard try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
            throw StoreError(
                .unusable, path: connection.path,
                reason: "its write-ahead log cannot be emptied while another program reads it; end that program")
        }
    }

    /// Pages of the database, with those that are only in the log.
    func pages() throws(StoreError) -> Int64 { try integer(pageCount) }

    /// Gives the space of a drained backlog back to the file system, when nearly all of the file is free.
    ///
    /// Then a VACUUM copies few pages; an automatic vacuum would cost a page more at many a commit.
    func compactIfNearlyEmpty() throws(StoreError) {
        let free = try integer(freePageCount)
        guard free >= 1024, try integer(pageCount) - free <= 512 else { return }
        try connection.execute("VACUUM")
        try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    }

    private func integer(_ statement: borrowing SQLiteStatement) throws(StoreError) -> Int64 {
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
