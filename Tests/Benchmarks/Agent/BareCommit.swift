import BenchmarkReport
import CSQLite

/// The limit to compare with: one small row and one commit that reaches the disk, with the outbox's settings.
@safe enum BareCommit {
    static func latency(path: String, count: Int, pause: Duration) async throws -> Samples {
        var opened: OpaquePointer?
        guard unsafe sqlite3_open(path, &opened) == SQLITE_OK, let database = unsafe opened else {
            throw BenchmarkError("\(path) cannot be opened")
        }
        defer { unsafe sqlite3_close(database) }
        func execute(_ sql: String) throws {
            guard unsafe sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else {
                throw BenchmarkError("\(path): \(sql) fails")
            }
        }
        try execute("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        try execute("CREATE TABLE updates (id INTEGER PRIMARY KEY, body BLOB)")
        var samples = Samples()
        for _ in 0..<count {
            let start = ContinuousClock.now
            try execute("INSERT INTO updates (body) VALUES (zeroblob(33))")
            samples.append(start.duration(to: ContinuousClock.now))
            // At the agent's pace: commits in a row also wait for what the one before left to the disk.
            try await Task.sleep(for: pause)
        }
        return samples
    }
}
