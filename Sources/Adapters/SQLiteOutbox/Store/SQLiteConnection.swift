import CSQLite
import ReportedText
import Reporting

/// A connection to a database. It has one owner, and is closed when that owner releases it. Only one thread at a time
/// may use it.
@safe struct SQLiteConnection: ~Copyable {
    /// The way in which a database is opened.
    enum Access: Sendable {
        case readWrite
        case readOnly
        /// The mode for reading a database to which no process is writing. SQLite needs no other file in this mode.
        case immutable
    }

    let handle: OpaquePointer
    let path: String

    /// Opens an existing database. SQLite doesn't read the file before the first statement runs. `lockTimeout` is the
    /// maximum wait for another connection's lock, in milliseconds.
    init(
        path: String, access: Access, on disk: any StoreDisk = SystemDisk(), lockTimeout: Int32 = 5000
    ) throws(OutboxError) {
        _ = Self.memoryStatisticsResult
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let (name, mode) =
            switch access {
            case .readWrite: (path, SQLITE_OPEN_READWRITE)
            case .readOnly: (path, SQLITE_OPEN_READONLY)
            case .immutable: (Self.uri(of: path) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        var opened: OpaquePointer?
        var code = unsafe sqlite3_open_v2(name, &opened, flags | mode, disk.databaseFileSystem)
        guard let handle = unsafe opened else {
            throw OutboxError(.unusable, path: path, .noMemory)
        }
        if code == SQLITE_OK { code = unsafe csqlite_disable_trusted_schema(handle) }
        if code == SQLITE_OK { code = unsafe sqlite3_busy_timeout(handle, lockTimeout) }
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.maximumValueBytes)
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, Self.maximumStatementBytes)
        guard code == SQLITE_OK else {
            let error = unsafe Self.error(code, of: handle, path: path)
            unsafe sqlite3_close_v2(handle)
            throw error
        }
        unsafe self.handle = handle
        self.path = path
    }

    /// The result of turning off SQLite's statistics about memory, for the whole process. Waypost doesn't use them, and
    /// they take a lock at each allocation and release of memory (sqlite.org/compile.html, recommended options). If
    /// SQLite is already in use, they stay on, which only costs time.
    private static let memoryStatisticsResult = csqlite_disable_memory_statistics()

    /// The maximum size of a value in bytes. It is a thousand times larger than any row needs, but a manipulated row
    /// can't fill the memory.
    private static let maximumValueBytes: Int32 = 1024 * 1024
    /// The maximum size of a statement in bytes. It is enough for all of Waypost's statements, and for each text in its
    /// schema.
    private static let maximumStatementBytes: Int32 = 16 * 1024

    deinit { unsafe sqlite3_close_v2(handle) }  // closes the database when the last statement has been finalised

    /// Runs one or more statements. Ignores the rows that they return.
    func execute(_ sql: String) throws(OutboxError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Self.error(code, of: handle, path: path) }
    }

    /// Runs `body` as one read transaction, so that all its reads see the same state. They also take and release the
    /// lock only once.
    func reading<Result>(_ body: () throws(OutboxError) -> Result) throws(OutboxError) -> Result {
        try execute("BEGIN")
        do throws(OutboxError) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // Nothing has been written, so nothing is lost if the rollback fails too.
            if isInTransaction { do { try execute("ROLLBACK") } catch {} }
            throw error
        }
    }

    /// Runs `sql`, such as a pragma, and returns the integer in the first column of the first row; `nil` if there is no
    /// row.
    func integer(_ sql: String) throws(OutboxError) -> Int64? {
        let statement = try SQLiteStatement(self, sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Runs `sql` and returns the text in the first column of the first row; `nil` if there is no row.
    func text(_ sql: String) throws(OutboxError) -> String? {
        let statement = try SQLiteStatement(self, sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Checks by means of SQLite that the structure of the file is intact. The larger the file, the longer this takes.
    func checkStructure() throws(OutboxError) {
        let answer = try text("PRAGMA quick_check(1)") ?? "no answer"
        if answer != "ok" { throw OutboxError(.damaged, path: path, .structure("\(answer)")) }
    }

    /// Switches to the write-ahead log. A rollback journal isn't used, because SQLite doesn't sync its removal. A power
    /// cut could then undo the last commit.
    func useWriteAheadLog() throws(OutboxError) {
        // SQLite returns the mode that now applies. It reports no error if that isn't the requested mode.
        let mode = try text("PRAGMA journal_mode = WAL") ?? "none"
        if mode != "wal" { throw OutboxError(.unusable, path: path, .journalMode("\(mode)")) }
    }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    var changes: Int64 { unsafe sqlite3_changes64(handle) }

    var lastInsertedID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Whether a transaction is open. After some errors, SQLite has already rolled it back.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Makes SQLite interrupt each statement after `limit` instructions of its virtual machine. `nil` removes the
    /// limit.
    func limitSteps(_ limit: Int32?) {
        unsafe sqlite3_progress_handler(handle, limit ?? 0, limit == nil ? nil : interruptStatement, nil)
    }

    /// Sets whether closing moves the write-ahead log into the database and removes it. SQLite does so by default.
    func setCheckpointOnClose(_ isEnabled: Bool) {
        unsafe csqlite_set_checkpoint_on_close(handle, isEnabled ? 1 : 0)
    }

    static func error(_ code: Int32, of handle: OpaquePointer, path: String) -> OutboxError {
        let message = unsafe sqlite3_errmsg(handle).map { unsafe ReportedText(String(cString: $0)) }
        return OutboxError(
            sqliteCode: code, systemNumber: unsafe sqlite3_system_errno(handle), path: path,
            message: message ?? "unknown error")
    }

    /// Returns the `file:` URI of `path`, with `%`, `?` and `#` escaped (sqlite.org/uri.html).
    static func uri(of path: String) -> String {
        path.reduce(into: "file:") { uri, character in
            switch character {
            case "%": uri += "%25"
            case "?": uri += "%3f"
            case "#": uri += "%23"
            default: uri.append(character)
            }
        }
    }
}

/// A progress handler for SQLite that always interrupts the statement.
private func interruptStatement(_ context: UnsafeMutableRawPointer?) -> Int32 { 1 }

/// A prepared statement that can be run repeatedly. It has one owner, and is finalised when that owner releases it.
@safe struct SQLiteStatement: ~Copyable {
    private let handle: OpaquePointer
    private let path: String

    init(_ connection: borrowing SQLiteConnection, _ sql: String) throws(OutboxError) {
        try unsafe self.init(connection.handle, path: connection.path, sql)
    }

    /// Prepares `sql` on the connection of `other`.
    init(onConnectionOf other: borrowing SQLiteStatement, _ sql: String) throws(OutboxError) {
        try unsafe self.init(sqlite3_db_handle(other.handle), path: other.path, sql)
    }

    private init(_ connection: OpaquePointer, path: String, _ sql: String) throws(OutboxError) {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let handle = unsafe prepared else {
            throw unsafe SQLiteConnection.error(code, of: connection, path: path)
        }
        unsafe self.handle = handle
        self.path = path
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Ends reading, which releases the lock. The statement can then be run again.
    func reset() { unsafe sqlite3_reset(handle) }  // returns the last step's error, which has already been thrown

    /// Binds `value` to the parameter with this index. The first parameter has the index 1.
    func bind(_ value: Int64, at index: Int32) throws(OutboxError) {
        try check(unsafe sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ value: StoredValue, at index: Int32) throws(OutboxError) {
        switch value {
        case .null: try check(unsafe sqlite3_bind_null(handle, index))
        case .integer(let number): try bind(number, at: index)
        case .text(let bytes): try check(unsafe csqlite_bind_text_copy(handle, index, bytes, Int32(bytes.count)))
        }
    }

    /// Advances to the next row. Returns whether there is one.
    func step() throws(OutboxError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = unsafe SQLiteConnection.error(code, of: sqlite3_db_handle(handle), path: path)
            reset()
            throw error
        }
    }

    /// Runs the statement, which must return no rows, and resets it.
    func run() throws(OutboxError) {
        _ = try step()
        reset()
    }

    /// Runs the statement with `number` as its only parameter, and resets it.
    func run(_ number: Int64) throws(OutboxError) {
        try bind(number, at: 1)
        try run()
    }

    /// Runs the statement with `values` as its parameters, and resets it.
    func run(_ values: [StoredValue]) throws(OutboxError) {
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
        try run()
    }

    /// Runs the statement with the values of `row` as its parameters, and resets it.
    func run(_ row: StoredRow) throws(OutboxError) {
        try row.bind(to: self)
        try run()
    }

    /// Runs the statement and resets it. Returns the integer in the first column of the first row, or 0 if there is no
    /// row.
    func singleInteger() throws(OutboxError) -> Int64 {
        defer { reset() }
        return try step() ? integer(0) : 0
    }

    /// The number of columns that each row has.
    var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

    /// Returns the integer in the column with this index in the current row; 0 for NULL. The first column has the index
    /// 0.
    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String? {
        unsafe sqlite3_column_text(handle, column).map { unsafe String(cString: $0) }
    }

    /// Returns the value in the column with this index in the current row. Returns `nil` for a floating-point number or
    /// a blob, which no column of a store contains.
    func value(_ column: Int32) -> StoredValue? {
        switch unsafe sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(integer(column))
        case SQLITE_TEXT:
            let bytes = unsafe sqlite3_column_blob(handle, column)
            return unsafe .text(
                Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))))
        default: return nil
        }
    }

    private func check(_ code: Int32) throws(OutboxError) {
        guard code == SQLITE_OK else {
            throw unsafe SQLiteConnection.error(code, of: sqlite3_db_handle(handle), path: path)
        }
    }
}
