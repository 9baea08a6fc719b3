import CSQLite
import LinuxPlatform
import LocationReporting

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
        case locked
        /// An older release has it open.
        case olderOwner
        /// The file system takes no writes: mounted so, or made so by the kernel after errors.
        case readOnly
        /// Nothing was tried: what lies there is not ours, or somebody else can change where the path leads.
        case refused
        /// Everything else: no permission, busy, an input/output error.
        case unusable
    }

    let kind: Kind
    let path: String
    /// SQLite's words, the system's, or ours.
    let reason: String
    /// Whether a sync failed. The kernel may call the pages clean then: no later sync writes them, and reading them
    /// shows what is not on the disk.
    private(set) var isFailedSync = false

    init(_ kind: Kind, path: String, reason: String) { (self.kind, self.path, self.reason) = (kind, path, reason) }

    /// `code` is an extended result code, `systemNumber` the `errno` that SQLite saw, or 0.
    init(code: Int32, systemNumber: Int32, path: String, reason: String) {
        self.init(Self.kind(ofCode: code, systemNumber: systemNumber), path: path, reason: "\(reason) (SQLite \(code))")
        isFailedSync = [Self.failedSync, Self.failedFolderSync].contains(code)
    }

    init(_ error: SystemError, path: String) {
        if let refusal = error.refusal {
            let subject = "\(path) "
            let reason = refusal.hasPrefix(subject) ? "it " + refusal.dropFirst(subject.count) : refusal
            self.init(.refused, path: path, reason: reason)
            return
        }
        let kind: Kind = error.number == Self.readOnlySystem ? .readOnly : .unusable
        self.init(Self.noSpace.contains(error.number) ? .full : kind, path: path, reason: error.description)
    }

    init(_ failure: FileLock.Failure, path: String) {
        switch failure {
        case .system(let error): self.init(error, path: path)
        case .held(let holder):
            let process = holder.processID.map { "process \($0)" } ?? "another process"
            let command = holder.command.map { " (\($0))" } ?? ""
            self.init(.locked, path: path, reason: "in use by \(process)\(command)")
        }
    }

    var description: String { "\(path): \(reason)" }

    /// ENOSPC and EDQUOT on Linux. SQLite reports a write beyond the quota, or one to the index of the write-ahead log
    /// on a full disk, as a plain input/output error.
    private static let noSpace: Set<Int32> = [28, 122]

    static func kind(ofCode code: Int32, systemNumber: Int32) -> Kind {
        switch code & 0xff {
        case SQLITE_FULL: .full
        // A constraint fails only when a sequence is there that the ledger does not know of.
        // Too big are values, and interrupted is the reading of a schema, that this program never writes.
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_INTERRUPT: .damaged
        case SQLITE_READONLY: .readOnly
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            if systemNumber == readOnlySystem {
                .readOnly
            } else if code == shortRead || (code == failedRead && systemNumber == inputOutput) {
                .damaged
            } else {
                noSpace.contains(systemNumber) ? .full : .unusable
            }
        default: .unusable
        }
    }

    /// EROFS on Linux.
    private static let readOnlySystem: Int32 = 30
    /// EIO on Linux: a sector is bad, or the disk is going.
    private static let inputOutput: Int32 = 5

    // Macro expressions, which Swift does not import: `SQLITE_IOERR_READ`, `_SHORT_READ` (the file ends too early),
    // `_FSYNC` and `_DIR_FSYNC`.
    private static let failedRead = SQLITE_IOERR | (1 << 8)
    private static let shortRead = SQLITE_IOERR | (2 << 8)
    private static let failedSync = SQLITE_IOERR | (4 << 8)
    private static let failedFolderSync = SQLITE_IOERR | (5 << 8)
}

/// Runs calls of the system on behalf of the store at `path`.
func withSystem<Result>(
    _ path: String, _ body: () throws(SystemError) -> Result
) throws(StoreError) -> Result {
    do { return try body() } catch { throw StoreError(error, path: path) }
}

/// Errors in the words of the port: which file, what happened, what to do.
func outboxError(_ error: StoreError) -> OutboxError {
    switch error.kind {
    case .full:
        OutboxError(
            .full,
            "\(error.path): no space is left (\(error.reason)); free some on this file system. Accepted updates "
                + "are safe, new ones are not accepted until then")
    case .newerSchema:
        OutboxError(
            .newerSchema,
            "\(error.path): written by a newer release (\(error.reason)); install that release again, or "
                + "give another outbox path. The file was not changed")
    case .locked:
        OutboxError(.locked, "\(error.path): \(error.reason); stop it first, or give another outbox path")
    case .olderOwner:
        OutboxError(
            .unusable,
            "\(error.path): the service that runs is of an older release, which takes no requests; restart it first")
    case .damaged:
        OutboxError(
            .unusable,
            "\(error.path): damaged, and not to be repaired (\(error.reason)); check the disk, or give an outbox path on "
                + "another one")
    case .damagedAgain:
        OutboxError(
            .damaged,
            "\(error.path): damaged again after a repair (\(error.reason)), which is tried again in ten minutes, or at a "
                + "restart; check the disk, or give an outbox path on another one")
    case .readOnly:
        OutboxError(
            .unusable,
            "\(error.path): the file system is read-only (\(error.reason)); if it was not mounted so, the kernel found "
                + "errors on the disk (journalctl -k): check it and mount it writable again")
    case .refused:
        OutboxError(.unusable, "\(error.path): the outbox cannot be read or written: \(error.reason)")
    case .unusable:
        OutboxError(
            .unusable,
            "\(error.path): the outbox cannot be read or written: \(error.reason). The path must be a file, "
                + "in a folder that this user may write, on a sound disk")
    }
}
