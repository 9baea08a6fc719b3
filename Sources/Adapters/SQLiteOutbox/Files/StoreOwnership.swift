import Glibc
import LinuxPlatform
import Reporting

/// The locks that keep other processes from writing to a store. One is on the database itself, and holds under every
/// name of that file. The other is on a lock file next to the database, which can be locked before the store exists.
///
/// If this process closes any descriptor of the database, it loses all SQLite's locks on it (POSIX). So SQLite must not
/// have the store open during `lockStores`, `lockRebuilt` and `adoptRebuilt`.
final class StoreOwnership {
    private let files: StoreFiles
    private var lockFileLock: FileLock?
    /// The lock on the database itself.
    private var storeLock: FileLock?
    /// The lock on the store that is being built to replace a damaged one.
    private var rebuiltLock: FileLock?

    /// The maximum number of attempts to lock a file while another process keeps replacing it.
    private static let maximumAttempts = 8

    /// Acquires the lock on the database, if it exists, and the lock on the lock file.
    ///
    /// - Throws: `locked` if another process holds one of the locks; otherwise the reason why a lock can't be acquired.
    init(_ files: StoreFiles, _ reserve: DiskReserve) throws(OutboxError) {
        self.files = files
        try withSystem(files.path, files.createDirectory())
        // The database is locked first, so that a second process fails before it touches the lock file. All errors
        // other than `locked` are ignored here, because opening the store reports them.
        do throws(OutboxError) { try lockStores() } catch { if error.code == .locked { throw error } }
        // This is checked before the lock file is created, because the check accepts any file that has a lock file next
        // to it.
        try files.requireOutbox()
        // A full disk must not keep the service from starting, although the lock file itself needs a few bytes.
        try reserve.useIfNeeded(for: acquireLockFile())
    }

    /// Makes sure that this process holds the locks on the store and on the rebuilt store, if those files exist.
    func lockStores() throws(OutboxError) {
        if storeLock?.isHeld(at: files.path) != true {
            storeLock = nil
            storeLock = try Self.lockFile(at: files.path, of: files)
        }
        if rebuiltLock?.isHeld(at: files.rebuilt) != true { try lockRebuilt() }
    }

    /// Locks the rebuilt store, which has just been created.
    func lockRebuilt() throws(OutboxError) {
        rebuiltLock = nil
        rebuiltLock = try Self.lockFile(at: files.rebuilt, of: files)
    }

    /// Records that the rebuilt store has become the store. Its lock is now the lock on the database.
    func adoptRebuilt() { storeLock = rebuiltLock.take() }

    /// Makes sure that the open store is still the file at its path, and that no other process has locked the lock
    /// file. Creates the lock file again if it was removed. Must be called before each commit.
    ///
    /// - Throws: `damaged` if the store has been removed or replaced; `locked` if another process has locked the lock
    ///   file.
    func verify() throws(OutboxError) {
        guard storeLock?.isHeld(at: files.path) == true else {
            throw OutboxError(.damaged, path: files.path, .removedInUse)
        }
        if lockFileLock?.isHeld(at: files.lock) == true { return }
        lockFileLock = nil
        do throws(OutboxError) { try acquireLockFile() } catch {
            // The store is safe even if there is no space for the lock file, because this process also holds the lock
            // on the database.
            if error.code == .locked { throw error }
        }
    }

    private func acquireLockFile() throws(OutboxError) {
        do throws(FileLock.Failure) { lockFileLock = try files.disk.lock(at: files.lock) } catch {
            throw OutboxError(error, path: files.path)
        }
    }

    /// Locks the file at `path`. Returns `nil` if no regular file exists there, because opening the store then reports
    /// the reason.
    private static func lockFile(at path: String, of files: StoreFiles) throws(OutboxError) -> FileLock? {
        for _ in 0..<maximumAttempts {
            let status = try withSystem(files.path, FileStatus(at: path))
            guard status?.kind == .file else { return nil }
            let lock: FileLock
            do throws(FileLock.Failure) { lock = try files.disk.lock(file: path) } catch {
                if case .system(let cause) = error, cause.number == ENOENT { continue }
                throw OutboxError(error, path: files.path)
            }
            if lock.isHeld(at: path) { return lock }
        }
        throw OutboxError(.unusable, path: files.path, .replacedRepeatedly)
    }
}
