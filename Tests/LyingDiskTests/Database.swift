import CSQLite
import LyingDisk

/// A failed statement.
struct DatabaseError: Error, Equatable {
    /// SQLite's extended result code.
    let code: Int32
}

/// A plain SQLite database on a lying disk.
@safe final class Database {
    private let handle: OpaquePointer

    init(_ path: String, on disk: LyingDisk) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, disk.databaseFileSystem)
        guard code == SQLITE_OK, let handle = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw DatabaseError(code: code)
        }
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw DatabaseError(code: code) }
    }

    /// Returns the first column of the first row.
    func integer(_ sql: String) throws -> Int64 {
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        defer { unsafe sqlite3_finalize(statement) }
        guard code == SQLITE_OK, unsafe sqlite3_step(statement) == SQLITE_ROW else { throw DatabaseError(code: code) }
        return unsafe sqlite3_column_int64(statement, 0)
    }
}
