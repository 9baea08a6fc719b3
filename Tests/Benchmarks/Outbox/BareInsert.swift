import CSQLite

/// The limit to compare with: SQLite with full durability and a table of nothing but the payload, one insert and one
/// delete an update, each its own commit, as a queue is written at first.
@safe enum BareInsert {
    struct Failure: Error { let code: Int32 }

    /// 33 bytes, as long as a stored update.
    private static let payload = "x'\(String(repeating: "5a", count: 33))'"

    static func run(path: String, pageSize: Int, rows: Int) throws {
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open(path, &opened)
        guard code == SQLITE_OK, let database = unsafe opened else { throw Failure(code: code) }
        defer { unsafe sqlite3_close(database) }
        try unsafe execute(
            database,
            "PRAGMA page_size = \(pageSize); PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                + "CREATE TABLE updates (id INTEGER PRIMARY KEY, body BLOB);")
        let before = try DiskUse.now()
        for row in 1...rows {
            try unsafe execute(database, "INSERT INTO updates VALUES (\(row), \(payload))")
        }
        let inserted = try DiskUse.now()
        for row in 1...rows { try unsafe execute(database, "DELETE FROM updates WHERE id = \(row)") }
        let deleted = try DiskUse.now()
        OutboxBenchmark.report(
            "sqlite.bare.\(pageSize)",
            [
                ("updates", "\(rows)"), ("insertBytesPerUpdate", "\(inserted.since(before).written / rows)"),
                ("insertAndDeleteBytesPerUpdate", "\(deleted.since(before).written / rows)"),
                ("deviceBytesPerInsert", "\(inserted.since(before).scheduled / rows)"),
            ])
    }

    private static func execute(_ database: OpaquePointer, _ sql: String) throws {
        let code = unsafe sqlite3_exec(database, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Failure(code: code) }
    }
}
