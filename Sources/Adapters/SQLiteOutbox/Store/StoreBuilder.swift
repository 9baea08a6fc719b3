import Reporting

/// Builds a complete store under another name, so that a power cut never leaves an incomplete one at its path.
final class StoreBuilder {
    let rows: StoreRows
    private let connection: SQLiteConnection
    private let insertRow: SQLiteStatement
    private let insertQuarantined: SQLiteStatement

    /// Builds `files.rebuilt` from the rows that `fill` inserts and the counters that it returns, and synchronizes it.
    /// The file is locked for `owner` from its creation on.
    static func build(
        _ files: StoreFiles, for owner: StoreOwnership?, fill: (StoreBuilder) throws(OutboxError) -> OutboxCounters
    ) throws(OutboxError) {
        do {
            for suffix in ["-wal", "-shm"] {
                try withSystem(files.path, files.disk.removeFile(at: files.rebuilt + suffix))
            }
            try withSystem(files.path, files.disk.createFile(at: files.rebuilt))
            try owner?.holdRebuilt()
            let builder = try StoreBuilder(files)
            try builder.finish(try fill(builder))
        }
        // The builder has been released, so the database is closed and its log has been moved into it.
        try withSystem(files.path, files.disk.synchronizeFile(at: files.rebuilt))
    }

    private init(_ files: StoreFiles) throws(OutboxError) {
        let connection = try SQLiteConnection(path: files.rebuilt, access: .readWrite, on: files.disk)
        try connection.execute(StoreSchema.creation)
        insertRow = try SQLiteStatement(connection, "INSERT OR IGNORE INTO updates VALUES (\(StoredRow.parameters))")
        insertQuarantined = try SQLiteStatement(
            connection, "INSERT OR IGNORE INTO quarantine VALUES (\(StoredRow.parameters))")
        rows = try StoreRows(connection)
        self.connection = connection
    }

    /// Copies a row, as it was found, into the table of pending or quarantined updates. Ignores a second copy.
    func insert(_ row: StoredRow) throws(OutboxError) {
        if row.isQuarantined {
            try insertQuarantined.run(row)
        } else {
            try insertRow.run(row)
        }
    }

    /// Drops rows that are known to be settled: those before `oldestPending`, and those in quarantine whose updates are
    /// also pending. Such an update was requeued, or its pending row is an old copy and will be rejected again.
    func dropSettled(before oldestPending: Int64) throws(OutboxError) {
        try connection.execute(
            """
            DELETE FROM updates WHERE sequence < \(oldestPending);
            DELETE FROM quarantine WHERE sequence IN (SELECT sequence FROM updates);
            DELETE FROM quarantine WHERE sequence NOT IN
              (SELECT sequence FROM quarantine ORDER BY sequence DESC LIMIT \(OutboxStore.quarantineLimit));
            """)
    }

    /// Drops the pending row of a delivered update, if an old copy of it was salvaged.
    func dropPending(_ delivered: StoredUpdate?) throws(OutboxError) {
        guard let delivered, try rows.pending(delivered.sequence)?.stored == delivered else { return }
        try connection.execute("DELETE FROM updates WHERE sequence = \(delivered.sequence)")
    }

    /// Renumbers the pending rows beyond `limit`: they should be delivered, but later updates must not continue from
    /// such numbers. The new numbers follow the highest number up to `limit`, or `minimum` if that is higher. Drops the
    /// quarantined rows beyond `limit`.
    func renumber(beyond limit: Int64, after minimum: Int64) throws(OutboxError) {
        try connection.execute("DELETE FROM quarantine WHERE sequence > \(limit)")
        let last = try connection.integer(
            """
            SELECT max(sequence) FROM (SELECT sequence FROM updates UNION ALL SELECT sequence FROM quarantine)
              WHERE sequence <= \(limit)
            """)
        var next = min(max(minimum, last ?? 0), limit)
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

    /// Returns the number of pending rows; the ledger's row is inserted later.
    func countPending() throws(OutboxError) -> Int64 { try connection.integer("SELECT count(*) FROM updates") ?? 0 }

    func countQuarantined(from sequence: Int64) throws(OutboxError) -> Int64 {
        try connection.integer("SELECT count(*) FROM quarantine WHERE sequence >= \(sequence)") ?? 0
    }

    /// Returns the highest sequence of all rows; 0 if there are no rows.
    func highestSequence() throws(OutboxError) -> Int64 {
        max(try rows.highestSequence(), try connection.integer("SELECT max(sequence) FROM quarantine") ?? 0)
    }

    /// Drops every row.
    func removeAll() throws(OutboxError) { try connection.execute("DELETE FROM updates; DELETE FROM quarantine") }

    private func finish(_ counters: OutboxCounters) throws(OutboxError) {
        try insertRow.run(rows.ledger(of: counters).row)
        try connection.execute("COMMIT")
        try connection.useWriteAheadLog()
    }
}
