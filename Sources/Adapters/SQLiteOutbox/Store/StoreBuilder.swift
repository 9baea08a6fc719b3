import Reporting

/// A builder of a new store under another name. The store is renamed only when it is complete, so a power cut never
/// leaves an incomplete store at the outbox's path.
final class StoreBuilder {
    let rows: StoreRows
    private let connection: SQLiteConnection
    private let insertRow: SQLiteStatement
    private let insertQuarantined: SQLiteStatement

    /// Builds a store at `files.rebuilt` and syncs it to the disk. `fill` inserts the rows and returns the counters.
    /// `owner` locks the file as soon as it has been created.
    static func build(
        _ files: StoreFiles, for owner: StoreOwnership?, fill: (StoreBuilder) throws(OutboxError) -> OutboxCounters
    ) throws(OutboxError) {
        do {
            for suffix in ["-wal", "-shm"] {
                try withSystem(files.path, files.disk.removeFile(at: files.rebuilt + suffix))
            }
            try withSystem(files.path, files.disk.createFile(at: files.rebuilt))
            try owner?.lockRebuilt()
            let builder = try StoreBuilder(files)
            try builder.finish(try fill(builder))
        }
        // At this point the builder has been released, so the database is closed and contains everything that was in
        // its log.
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

    /// Copies a row unchanged into the table of pending updates, or into the table of quarantined updates. Ignores a
    /// row whose sequence number is already in the table.
    func insert(_ row: StoredRow) throws(OutboxError) {
        if row.isQuarantined {
            try insertQuarantined.run(row)
        } else {
            try insertRow.run(row)
        }
    }

    /// Drops rows of updates that are no longer pending, because their sequence number is lower than `oldestPending`.
    /// Also drops the quarantined row of an update that has a pending row as well. Either the update was requeued, or
    /// its pending row is an old copy and the server will reject it again.
    func dropSettled(before oldestPending: Int64) throws(OutboxError) {
        try connection.execute(
            """
            DELETE FROM updates WHERE sequence < \(oldestPending);
            DELETE FROM quarantine WHERE sequence IN (SELECT sequence FROM updates);
            DELETE FROM quarantine WHERE sequence NOT IN
              (SELECT sequence FROM quarantine ORDER BY sequence DESC LIMIT \(OutboxStore.quarantineLimit));
            """)
    }

    /// Drops the pending row of `delivered`. If there is such a row, it is an old copy that was salvaged.
    func dropPendingRow(of delivered: StoredUpdate?) throws(OutboxError) {
        guard let delivered, try rows.pending(delivered.sequence)?.stored == delivered else { return }
        try connection.execute("DELETE FROM updates WHERE sequence = \(delivered.sequence)")
    }

    /// Renumbers the pending rows whose number is higher than `limit`, so that later updates get valid numbers. The new
    /// numbers follow the highest number that doesn't exceed `limit`, or `minimum` if that is higher. Drops the
    /// quarantined rows whose number is higher than `limit`.
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

    /// Returns the number of pending rows. The ledger's row isn't counted, because it is inserted later.
    func countPending() throws(OutboxError) -> Int64 { try connection.integer("SELECT count(*) FROM updates") ?? 0 }

    func countQuarantined(from sequence: Int64) throws(OutboxError) -> Int64 {
        try connection.integer("SELECT count(*) FROM quarantine WHERE sequence >= \(sequence)") ?? 0
    }

    /// Returns the highest sequence number of all pending and quarantined rows; 0 if there are none.
    func highestSequence() throws(OutboxError) -> Int64 {
        max(try rows.highestSequence(), try connection.integer("SELECT max(sequence) FROM quarantine") ?? 0)
    }

    /// Drops all pending and quarantined rows.
    func removeAll() throws(OutboxError) { try connection.execute("DELETE FROM updates; DELETE FROM quarantine") }

    private func finish(_ counters: OutboxCounters) throws(OutboxError) {
        try insertRow.run(rows.ledger(of: counters).row)
        try connection.execute("COMMIT")
        try connection.useWriteAheadLog()
    }
}
