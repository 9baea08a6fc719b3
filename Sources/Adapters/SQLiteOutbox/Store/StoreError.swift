import CSQLite
import Glibc
import LinuxPlatform
import Reporting

/// What went wrong with the store: a call of SQLite or of the system that failed, or a record that is not what was
/// written.
struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What can be done about it.
    enum Kind: Sendable, Hashable {
        /// No space is left: on the device, or by quota.
        case full
        /// The file is not what was written.
        case damaged
        /// It was repaired in this call, and is not what was written then.
        case damagedAgain
        /// A newer release wrote it.
        case newerSchema
        /// Another process owns it.
        case locked(HoldingProcess?)
        /// The file system takes no writes: mounted so, or made so by the kernel after errors.
        case readOnly
        /// Nothing was tried: what lies there is not ours, or another user can change where the path leads.
        case refused
        /// This user may not.
        case forbidden
        /// Another connection holds a lock for longer than is waited for.
        case busy
        /// Everything else: an input/output error.
        case unusable
    }

    let kind: Kind
    let path: String
    /// What was found or tried, for use in a sentence.
    let reason: String
    /// Whether a sync failed. The kernel may call the pages clean then: no later sync writes them, and reading them
    /// shows what is not on the disk.
    private(set) var isFailedSync = false

    init(_ kind: Kind, path: String, reason: String) {
        self.kind = kind
        self.path = path
        self.reason = reason
    }

    /// `code` is an extended result code, `systemNumber` the `errno` that SQLite saw, or 0.
    init(code: Int32, systemNumber: Int32, path: String, reason: String) {
        self.init(Self.kind(ofCode: code, systemNumber: systemNumber), path: path, reason: "\(reason) (SQLite \(code))")
        isFailedSync = [Self.failedSync, Self.failedFolderSync].contains(code)
    }

    init(_ error: SystemError, path: String) {
        if let refusal = error.refusal {
            self.init(.refused, path: path, reason: refusal)
        } else {
            self.init(Self.kind(ofSystemNumber: error.number), path: path, reason: error.description)
        }
    }

    init(_ failure: FileLock.Failure, path: String) {
        switch failure {
        case .system(let error): self.init(error, path: path)
        case .held(let holder): self.init(.locked(holder), path: path, reason: "in use by \(holder.name)")
        }
    }

    /// Whether the connection is as good as before, and what it has committed is on the disk.
    var leavesStoreSound: Bool { (kind == .full || kind == .busy) && !isFailedSync }
    var isLocked: Bool { if case .locked = kind { true } else { false } }
    var description: String { "\(path): \(reason)" }

    static func kind(ofCode code: Int32, systemNumber: Int32) -> Kind {
        switch code & 0xff {
        case SQLITE_FULL: .full
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        // A constraint fails only when a sequence is there that the ledger does not know of.
        // Too big are values, and interrupted is the reading of a schema, that this program never writes.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_INTERRUPT: .damaged
        case SQLITE_READONLY: .readOnly
        case SQLITE_IOERR where code == shortRead || (code == failedRead && systemNumber == EIO): .damaged
        case SQLITE_IOERR, SQLITE_CANTOPEN: kind(ofSystemNumber: systemNumber)
        default: .unusable
        }
    }

    /// SQLite reports a write beyond the quota, or one to the index of the write-ahead log on a full disk, as a plain
    /// input/output error.
    private static func kind(ofSystemNumber number: Int32) -> Kind {
        switch number {
        case ENOSPC, EDQUOT: .full
        case EROFS: .readOnly
        case EACCES: .forbidden
        default: .unusable
        }
    }

    // Macro expressions, which Swift does not import: `SQLITE_IOERR_READ`, `_SHORT_READ` (the file ends too early),
    // `_FSYNC` and `_DIR_FSYNC`.
    private static let failedRead = SQLITE_IOERR | (1 << 8)
    private static let shortRead = SQLITE_IOERR | (2 << 8)
    private static let failedSync = SQLITE_IOERR | (4 << 8)
    private static let failedFolderSync = SQLITE_IOERR | (5 << 8)
}

/// Makes a call of the system on behalf of the store at `path`.
func withSystem<Result>(
    _ path: String, _ call: @autoclosure () throws(SystemError) -> Result
) throws(StoreError) -> Result {
    do throws(SystemError) { return try call() } catch { throw StoreError(error, path: path) }
}

/// Evaluates `work` once more when it meets damage: what is read wrongly may be read rightly the next time.
func retryingDamage<Result>(_ work: @autoclosure () throws(StoreError) -> Result) throws(StoreError) -> Result {
    do throws(StoreError) { return try work() } catch { if error.kind != .damaged { throw error } }
    return try work()
}

/// Evaluates `work` for a tool, which leaves repairs to the service.
func forTools<Result>(_ work: @autoclosure () throws(StoreError) -> Result) throws(OutboxError) -> Result {
    do throws(StoreError) { return try work() } catch { throw OutboxError(error, repairsDamage: false) }
}
