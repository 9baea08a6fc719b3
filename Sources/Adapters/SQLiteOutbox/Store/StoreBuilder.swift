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
        try connection.execute(files.schema.creation)
        insertRow = try SQLiteStatement(connection, "INSERT OR IGNORE INTO records VALUES (?1, ?2)")
        insertQuarantined = try SQLiteStatement(connection, "INSERT OR IGNORE INTO quarantined VALUES (?1, ?2)")
        rows = try StoreRows(connection)
        self.connection = connection
    }

    /// Takes a pending row over as it was found; a second copy of it is passed over.
    func insertPending(_ bytes: [UInt8], sequence: Int64) throws(StoreError) { try insertRow.run(sequence, bytes) }

    func insertQuarantined(_ bytes: [UInt8], sequence: Int64) throws(StoreError) {
        try insertQuarantined.run(sequence, bytes)
    }

    /// Drops rows that are known to be settled: those before `oldestPending`, and those in quarantine that are pending
    /// as well: requeued, or an old copy, which is refused once more.
    func dropSettled(before oldestPending: Int64) throws(StoreError) {
        try connection.execute(
            """
            DELETE FROM records WHERE id < \(oldestPending);
            DELETE FROM quarantined WHERE id IN (SELECT id FROM records);
            DELETE FROM quarantined WHERE id NOT IN
              (SELECT id FROM quarantined ORDER BY id DESC LIMIT \(OutboxStore.quarantineLimit));
            """)
    }

    /// Drops the row of an update that was delivered, if an old copy of it was taken over.
    func dropPending(_ delivered: StoredUpdate?) throws(StoreError) {
        guard let delivered, try rows.pending(delivered.sequence)?.stored == delivered else { return }
        try connection.execute("DELETE FROM records WHERE id = \(delivered.sequence)")
    }

    /// Renumbers the pending rows beyond `limit`, on from the last one that is not, or from `least`: they are worth
    /// delivering, and numbers go on from theirs. Those in quarantine are dropped.
    func renumber(beyond limit: Int64, after least: Int64) throws(StoreError) {
        try connection.execute("DELETE FROM quarantined WHERE id > \(limit)")
        let last = try connection.integer(
            "SELECT max(id) FROM (SELECT id FROM records UNION ALL SELECT id FROM quarantined) WHERE id <= \(limit)")
        var (next, cursor) = (min(max(least, last ?? 0), limit), limit)
        while true {
            let records = try rows.oldest(after: cursor, limit: 1000)
            guard let end = records.last?.stored.sequence else { return }
            cursor = end
            for record in records {
                next += 1
                let stored = StoredUpdate(sequence: next, update: record.stored.update)
                if next == record.stored.sequence { continue }
                try connection.execute("DELETE FROM records WHERE id = \(record.stored.sequence)")
                try insertPending(UpdateRecord(stored, newestSequence: next).bytes, sequence: next)
            }
        }
    }

    /// Pending rows; the ledger's own row is not there yet.
    func countPending() throws(StoreError) -> Int64 { try connection.integer("SELECT count(*) FROM records") ?? 0 }

    func countQuarantined(from sequence: Int64) throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM quarantined WHERE id >= \(sequence)") ?? 0
    }

    /// The last sequence of all rows; 0 when there is none.
    func highestSequence() throws(StoreError) -> Int64 {
        max(try rows.highestSequence(), try connection.integer("SELECT max(id) FROM quarantined") ?? 0)
    }

    /// Drops every row that has been taken over.
    func empty() throws(StoreError) { try connection.execute("DELETE FROM records; DELETE FROM quarantined") }

    private func finish(_ counters: OutboxCounters) throws(StoreError) {
        try insertRow.run(LedgerRecord.id, rows.ledger(of: counters).bytes)
        try connection.execute("COMMIT")
        try connection.useWriteAheadLog()
    }
}
