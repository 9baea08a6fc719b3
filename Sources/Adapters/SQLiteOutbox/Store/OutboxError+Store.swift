import CSQLite
import Glibc
import LinuxPlatform
import ReportedText
import Reporting

/// The mapping from SQLite errors and system-call errors to outbox errors. No other code converts them.
extension OutboxError {
    /// Creates the error for a failed call of SQLite. `code` is SQLite's extended result code. `systemNumber` is the
    /// `errno` that SQLite got from the system, or 0.
    init(sqliteCode code: Int32, systemNumber: Int32, path: String, message: ReportedText) {
        let kind = Self.code(ofResult: code, systemNumber: systemNumber, path: path)
        self.init(kind, path: path, .sqlite(code: code, message: message))
    }

    init(_ error: SystemError, path: String) {
        if let refusal = error.refusal {
            self.init(.refused, path: path, .refusal(refusal))
        } else {
            let message = ReportedText(error.description, limit: ReportedText.maximumSentenceLength)
            self.init(
                Self.code(ofSystemNumber: error.number, path: path), path: path,
                .system(number: error.number, message: message))
        }
    }

    init(_ failure: FileLock.Failure, path: String) {
        switch failure {
        case .system(let error): self.init(error, path: path)
        case .held(let process):
            let holder = process.map { Holder(name: "\($0)", stopCommand: "\($0.stopCommand)") }
            self.init(.locked, path: path, .held(by: holder))
        }
    }

    /// Whether a sync has failed. The kernel may then treat the pages as written. If so, later syncs don't write them,
    /// and reading them returns data that isn't on the disk.
    var isFailedSync: Bool {
        guard case .sqlite(let code, _) = cause else { return false }
        return [Self.failedSync, Self.failedDirectorySync].contains(code)
    }

    /// Whether the connection is still usable and its earlier commits are on the disk.
    var leavesStoreSound: Bool { (isFull || code == .busy) && !isFailedSync }

    private static func code(ofResult code: Int32, systemNumber: Int32, path: String) -> Code {
        switch code & 0xff {
        case SQLITE_FULL: codeOfFullDisk(at: path)
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        // All of these are signs of damage. A constraint fails only if a row has a sequence number that the ledger
        // doesn't count. Waypost itself never writes a value that is too big, or a schema so large that reading it is
        // interrupted.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_INTERRUPT: .damaged
        case SQLITE_READONLY: .readOnly
        case SQLITE_IOERR where code == shortRead || (code == failedRead && systemNumber == EIO): .damaged
        case SQLITE_IOERR, SQLITE_CANTOPEN: Self.code(ofSystemNumber: systemNumber, path: path)
        default: .unusable
        }
    }

    /// Returns the code for an `errno`. It is needed because SQLite reports two cases of missing space as plain
    /// input/output errors: writes that exceed a quota, and writes to the log's index.
    private static func code(ofSystemNumber number: Int32, path: String) -> Code {
        switch number {
        case ENOSPC, EDQUOT: codeOfFullDisk(at: path)
        case EROFS: .readOnly
        case EACCES: .forbidden
        default: .unusable
        }
    }

    private static func codeOfFullDisk(at path: String) -> Code {
        FileSystem.freeFiles(at: FileSystem.parent(of: path)) == 0 ? .noInodes : .full
    }

    // These are macro expressions in C, which Swift doesn't import: `SQLITE_IOERR_READ`, `_SHORT_READ` (the file ends
    // too early), `_FSYNC` and `_DIR_FSYNC`.
    private static let failedRead = SQLITE_IOERR | (1 << 8)
    private static let shortRead = SQLITE_IOERR | (2 << 8)
    private static let failedSync = SQLITE_IOERR | (4 << 8)
    private static let failedDirectorySync = SQLITE_IOERR | (5 << 8)
}

/// Evaluates `call` and returns its result. Turns its error into an error of the outbox at `path`.
func withSystem<Result>(
    _ path: String, _ call: @autoclosure () throws(SystemError) -> Result
) throws(OutboxError) -> Result {
    do throws(SystemError) { return try call() } catch { throw OutboxError(error, path: path) }
}

/// Evaluates `work` and returns its result. If `work` reports damage, evaluates it again, because reading may succeed
/// at the second attempt.
func retryingDamage<Result>(_ work: @autoclosure () throws(OutboxError) -> Result) throws(OutboxError) -> Result {
    do throws(OutboxError) { return try work() } catch { if error.code != .damaged { throw error } }
    return try work()
}
