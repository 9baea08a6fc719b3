import BenchmarkReport
import CSQLite

/// A reference: SQLite with full durability and a table that holds only the payload. Each update is an insert and a
/// delete, each with its own commit.
@safe struct BareInsert {
    struct Failure: Error { let code: Int32 }

    /// The bytes per update that were passed to `write`, and the bytes that were scheduled for the device.
    typealias Bytes = (written: Double, scheduled: Double)

    let insertBytes: Bytes
    let insertAndDeleteBytes: Bytes
    /// The times until an insert is durable.
    let insertTimes: Samples

    /// A payload of 33 bytes, as long as a stored update.
    private static let payload = "x'\(String(repeating: "5a", count: 33))'"

    static func run(path: String, pageSize: Int, rows: Int) throws -> Self {
        _ = csqlite_disable_memory_statistics()  // as the outbox does; later calls have no effect
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open(path, &opened)
        guard code == SQLITE_OK, let database = unsafe opened else { throw Failure(code: code) }
        defer { unsafe sqlite3_close(database) }
        try unsafe execute(
            "PRAGMA page_size = \(pageSize); PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                + "CREATE TABLE updates (id INTEGER PRIMARY KEY, body BLOB);",
            in: database)
        var insertTimes = Samples()
        let before = try DiskUse.now()
        for row in 1...rows {
            let start = ContinuousClock.now
            try unsafe execute("INSERT INTO updates VALUES (\(row), \(payload))", in: database)
            insertTimes.append(start.duration(to: ContinuousClock.now))
        }
        let inserted = try DiskUse.now().since(before)
        for row in 1...rows { try unsafe execute("DELETE FROM updates WHERE id = \(row)", in: database) }
        let deleted = try DiskUse.now().since(before)
        return Self(
            insertBytes: inserted.divided(by: rows), insertAndDeleteBytes: deleted.divided(by: rows),
            insertTimes: insertTimes)
    }

    private static func execute(_ sql: String, in database: OpaquePointer) throws {
        let code = unsafe sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Failure(code: code) }
    }
}
