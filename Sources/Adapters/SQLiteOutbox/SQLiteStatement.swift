import CSQLite

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

    func bind(_ bytes: [UInt8], at index: Int32) throws(StoreError) {
        try check(unsafe csqlite_bind_blob_copy(handle, index, bytes, Int32(bytes.count)))
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

    /// Columns count from 0; NULL reads as 0.
    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String? {
        unsafe sqlite3_column_text(handle, column).map { unsafe String(cString: $0) }
    }

    func blob(_ column: Int32) -> [UInt8] {
        let bytes = unsafe sqlite3_column_blob(handle, column)
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column))))
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else {
            throw unsafe SQLiteConnection.error(code, of: sqlite3_db_handle(handle), path: path)
        }
    }
}
