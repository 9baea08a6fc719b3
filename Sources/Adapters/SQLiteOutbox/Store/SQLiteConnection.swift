import CSQLite
import ReportedText

/// One open database: one owner, closed when it goes. To be used by one thread at a time.
@safe struct SQLiteConnection: ~Copyable {
    /// How a database is opened.
    enum Access: Sendable {
        case readWrite
        case readOnly
        /// Read-only and without a writer: needs no files beside the database.
        case immutable
    }

    let handle: OpaquePointer
    let path: String

    /// Opens an existing database; SQLite reads the file only when the first statement runs. `patience`: how long a
    /// statement waits for another connection's lock, in milliseconds.
    init(
        path: String, access: Access, on disk: any StoreDisk = SystemDisk(), patience: Int32 = 5000
    ) throws(StoreError) {
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let (name, mode) =
            switch access {
            case .readWrite: (path, SQLITE_OPEN_READWRITE)
            case .readOnly: (path, SQLITE_OPEN_READONLY)
            case .immutable: (Self.address(of: path) + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        var opened: OpaquePointer?
        var code = unsafe sqlite3_open_v2(name, &opened, flags | mode, disk.databaseFileSystem)
        guard let handle = unsafe opened else {
            throw StoreError(.unusable, path: path, reason: "SQLite has no memory")
        }
        if code == SQLITE_OK { code = unsafe csqlite_distrust_schema(handle) }
        if code == SQLITE_OK { code = unsafe sqlite3_busy_timeout(handle, patience) }
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.longestValue)
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, Self.longestStatement)
        guard code == SQLITE_OK else {
            let error = unsafe Self.error(code, of: handle, path: path)
            unsafe sqlite3_close_v2(handle)
            throw error
        }
        unsafe self.handle = handle
        self.path = path
    }

    /// A thousand times what any row of a store has; a crafted one does not fill the memory.
    private static let longestValue: Int32 = 1024 * 1024
    /// Our own statements are shorter, and so is each text of our schema.
    private static let longestStatement: Int32 = 16 * 1024

    deinit { unsafe sqlite3_close_v2(handle) }  // waits for the statements, which may go later

    /// Runs statements that answer nothing worth reading.
    func execute(_ sql: String) throws(StoreError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw unsafe Self.error(code, of: handle, path: path) }
    }

    /// The first column of the first row, as a pragma answers; `nil` when there is no row.
    func integer(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try SQLiteStatement(self, sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The first column of the first row as text.
    func text(_ sql: String) throws(StoreError) -> String? {
        let statement = try SQLiteStatement(self, sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Leaves the rollback journal, with which a power cut may undo the last commit: its removal is not synchronized.
    func useWriteAheadLog() throws(StoreError) {
        // SQLite answers with the mode that it could have, which is no error to it.
        let mode = try text("PRAGMA journal_mode = WAL") ?? "none"
        if mode != "wal" { throw StoreError(.unusable, path: path, reason: "its journal stays in the mode \(mode)") }
    }

    /// Rows that the last insert, update or delete has changed.
    var changes: Int64 { unsafe sqlite3_changes64(handle) }

    /// The id of the row that was inserted last.
    var lastInsertedID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Whether a transaction is open; SQLite ends one by itself after some errors.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Ends every statement that takes more instructions of SQLite's machine; `nil`: none.
    func limitSteps(_ limit: Int32?) {
        unsafe sqlite3_progress_handler(handle, limit ?? 0, limit == nil ? nil : endStatement, nil)
    }

    /// Whether closing moves the write-ahead log into the database and removes it; SQLite does unless told otherwise.
    func setCheckpointOnClose(_ isEnabled: Bool) {
        unsafe csqlite_set_checkpoint_on_close(handle, isEnabled ? 1 : 0)
    }

    static func error(_ code: Int32, of handle: OpaquePointer, path: String) -> StoreError {
        let words = unsafe sqlite3_errmsg(handle).map { unsafe ReportedText(String(cString: $0)) } ?? "unknown error"
        return StoreError(
            code: code, systemNumber: unsafe sqlite3_system_errno(handle), path: path, reason: words.description)
    }

    /// A `file:` address, in which `%`, `?` and `#` are escaped (sqlite.org/uri.html).
    static func address(of path: String) -> String {
        path.reduce(into: "file:") { address, character in
            switch character {
            case "%": address += "%25"
            case "?": address += "%3f"
            case "#": address += "%23"
            default: address.append(character)
            }
        }
    }
}

/// For SQLite's progress handler.
private func endStatement(_ context: UnsafeMutableRawPointer?) -> Int32 { 1 }

/// One prepared statement, used again and again: one owner, finalised when it goes.
@safe struct SQLiteStatement: ~Copyable {
    private let handle: OpaquePointer
    private let path: String

    init(_ connection: borrowing SQLiteConnection, _ sql: String) throws(StoreError) {
        var prepared: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let handle = unsafe prepared else {
            throw unsafe SQLiteConnection.error(code, of: connection.handle, path: connection.path)
        }
        unsafe self.handle = handle
        path = connection.path
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Ready for the next use: nothing is read any more, no lock is held.
    func reset() { unsafe sqlite3_reset(handle) }  // repeats the error of the last step, which was thrown there

    /// Parameters count from 1.
    func bind(_ value: Int64, at index: Int32) throws(StoreError) {
        try check(unsafe sqlite3_bind_int64(handle, index, value))
    }

    func bind(_ value: StoredValue, at index: Int32) throws(StoreError) {
        switch value {
        case .null: try check(unsafe sqlite3_bind_null(handle, index))
        case .integer(let number): try bind(number, at: index)
        case .text(let bytes): try check(unsafe csqlite_bind_text_copy(handle, index, bytes, Int32(bytes.count)))
        }
    }

    /// Goes to the next row; `false` when there is none.
    func step() throws(StoreError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = unsafe SQLiteConnection.error(code, of: sqlite3_db_handle(handle), path: path)
            reset()
            throw error
        }
    }

    /// Runs a statement that answers no rows, and makes it ready for the next use.
    func run() throws(StoreError) {
        _ = try step()
        reset()
    }

    /// The same with `number` as its parameter.
    func run(_ number: Int64) throws(StoreError) { try run([.integer(number)]) }

    /// The same with `values` as its parameters.
    func run(_ values: [StoredValue]) throws(StoreError) {
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
        try run()
    }

    /// The integer that it answers, 0 without a row; ready for the next use then.
    func answer() throws(StoreError) -> Int64 {
        defer { reset() }
        return try step() ? integer(0) : 0
    }

    /// The number of columns in a row.
    var columnCount: Int32 { unsafe sqlite3_column_count(handle) }

    /// Columns count from 0; NULL reads as 0.
    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String? {
        unsafe sqlite3_column_text(handle, column).map { unsafe String(cString: $0) }
    }

    /// Returns `nil` for a floating-point number or a blob, which no column of a store has.
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

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else {
            throw unsafe SQLiteConnection.error(code, of: sqlite3_db_handle(handle), path: path)
        }
    }
}
