import CSQLite

/// Extended result codes, which are macro expressions that Swift does not import (sqlite.org/rescode.html).
enum ResultCode {
    static let read = SQLITE_IOERR | 1 << 8
    static let write = SQLITE_IOERR | 3 << 8
    static let sync = SQLITE_IOERR | 4 << 8
    static let truncate = SQLITE_IOERR | 6 << 8
    static let delete = SQLITE_IOERR | 10 << 8
    static let access = SQLITE_IOERR | 13 << 8
    static let nothingToDelete = SQLITE_IOERR | 23 << 8
}
