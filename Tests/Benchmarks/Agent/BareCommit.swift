import BenchmarkReport
import CSQLite

/// A reference: one small row and one commit that reaches the disk, with the outbox's settings.
@safe final class BareCommit {
    private let database: OpaquePointer
    private let path: String

    init(path: String) throws {
        var opened: OpaquePointer?
        guard unsafe sqlite3_open(path, &opened) == SQLITE_OK, let database = unsafe opened else {
            throw BenchmarkError("cannot open \(path)")
        }
        unsafe (self.database, self.path) = (database, path)
        try execute("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        try execute("PRAGMA wal_autocheckpoint = 256")
        try execute("CREATE TABLE updates (id INTEGER PRIMARY KEY, body BLOB)")
    }

    deinit { unsafe sqlite3_close(database) }

    /// Returns the time from before the row is inserted until it is on the disk.
    func latency() throws -> Duration {
        let start = ContinuousClock.now
        try execute("INSERT INTO updates (body) VALUES (zeroblob(33))")
        return start.duration(to: ContinuousClock.now)
    }

    private func execute(_ sql: String) throws {
        guard unsafe sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
            throw BenchmarkError("\(path): statement failed: \(sql)")
        }
    }
}
