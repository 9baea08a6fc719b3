import Reporting

/// Makes a complete store under another name, so that a power cut never leaves a half-made one in its place.
final class StoreBuilder {
    let rows: StoreRows
    private let connection: SQLiteConnection
    private let insertRow: SQLiteStatement
    private let insertQuarantined: SQLiteStatement

    /// Builds `files.rebuilt` from what `fill` inserts and the counters it answers, and puts it on the disk; it is its
    /// owner's from the beginning.
    static func build(
        _ files: StoreFiles, for owner: StoreOwnership?, fill: (StoreBuilder) throws(StoreError) -> OutboxCounters
    ) throws(StoreError) {
        do {
            for suffix in ["-wal", "-shm"] {
                try withSystem(files.path, files.disk.removeFile(at: files.rebuilt + suffix))
            }
            try withSystem(files.path, files.disk.createFile(at: files.rebuilt))
            try owner?.holdRebuilt()
            let builder = try StoreBuilder(files)
            try builder.finish(try fill(builder))
        }
        // The builder is gone here, the database closed, its log moved into it.
        try withSystem(files.path, files.disk.synchronizeFile(at: files.rebuilt))
    }

    private init(_ files: StoreFiles) throws(StoreError) {
        let connection = try SQLiteConnection(path: files.rebuilt, access: .readWrite, on: files.disk)
        try connection.execute(StoreSchema.creation)
        insertRow = try SQLiteStatement(connection, "INSERT OR IGNORE INTO updates VALUES (\(StoredRow.parameters))")
        insertQuarantined = try SQLiteStatement(
            connection, "INSERT OR IGNORE INTO quarantine VALUES (\(StoredRow.parameters))")
        rows = try StoreRows(connection)
        self.connection = connection
    }

    /// Copies a row as it was found into the table of its state; a second copy of it is passed over.
    func insert(_ row: StoredRow) throws(StoreError) {
        if row.isQuarantined {
            try insertQuarantined.run(row.parameters)
        } else {
            try insertRow.run(row.parameters)
        }
    }

    /// Drops rows that are known to be settled: those before `oldestPending`, and those in quarantine that are pending
    /// as well: requeued, or an old copy, which is refused once more.
    func dropSettled(before oldestPending: Int64) throws(StoreError) {
        try connection.execute(
            """
            DELETE FROM updates WHERE sequence < \(oldestPending);
            DELETE FROM quarantine WHERE sequence IN (SELECT sequence FROM updates);
            DELETE FROM quarantine WHERE sequence NOT IN
              (SELECT sequence FROM quarantine ORDER BY sequence DESC LIMIT \(OutboxStore.quarantineLimit));
            """)
    }

    /// Drops the row of an update that was delivered, if an old copy of it was taken over.
    func dropPending(_ delivered: StoredUpdate?) throws(StoreError) {
        guard let delivered, try rows.pending(delivered.sequence)?.stored == delivered else { return }
        try connection.execute("DELETE FROM updates WHERE sequence = \(delivered.sequence)")
    }

    /// Renumbers the pending rows beyond `limit`, on from the last one that is not, or from `least`: they are worth
    /// delivering, and numbers go on from theirs. Those in quarantine are dropped.
    func renumber(beyond limit: Int64, after least: Int64) throws(StoreError) {
        try connection.execute("DELETE FROM quarantine WHERE sequence > \(limit)")
        let last = try connection.integer(
            """
            SELECT max(sequence) FROM (SELECT sequence FROM updates UNION ALL SELECT sequence FROM quarantine)
              WHERE sequence <= \(limit)
            """)
        var next = min(max(least, last ?? 0), limit)
        var cursor = limit
        while true {
            let records = try rows.oldest(after: cursor, limit: 1000)
            guard let end = records.last?.stored.sequence else { return }
            cursor = end
            for record in records {
                next += 1
                let stored = StoredUpdate(sequence: next, update: record.stored.update)
                if next == record.stored.sequence { continue }
                try connection.execute("DELETE FROM updates WHERE sequence = \(record.stored.sequence)")
                try insert(UpdateRecord(stored, isShapePoint: record.isShapePoint).row)
            }
        }
    }

    /// Pending rows; the ledger's own row is not there yet.
    func countPending() throws(StoreError) -> Int64 { try connection.integer("SELECT count(*) FROM updates") ?? 0 }

    func countQuarantined(from sequence: Int64) throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM quarantine WHERE sequence >= \(sequence)") ?? 0
    }

    /// The last sequence of all rows; 0 when there is none.
    func highestSequence() throws(StoreError) -> Int64 {
        max(try rows.highestSequence(), try connection.integer("SELECT max(sequence) FROM quarantine") ?? 0)
    }

    /// Drops every row that has been taken over.
    func empty() throws(StoreError) { try connection.execute("DELETE FROM updates; DELETE FROM quarantine") }

    private func finish(_ counters: OutboxCounters) throws(StoreError) {
        try insertRow.run(rows.ledger(of: counters).row.parameters)
        try connection.execute("COMMIT")
        try connection.useWriteAheadLog()
    }
}
