import Glibc
import LinuxPlatform
import Reporting

/// The locks that keep other processes from writing a store. One is on the database itself, and is effective under each
/// of its names. The other is on a file next to the database, which can be locked before there is a store.
///
/// Closing any descriptor of the database would release SQLite's locks on it (POSIX). Therefore SQLite must not have
/// the store open during `hold`, `holdRebuilt` and `adoptRebuilt`.
final class StoreOwnership {
    private let files: StoreFiles
    private var lock: FileLock?
    /// The lock on the database.
    private var store: FileLock?
    /// The lock on the store that is being built.
    private var rebuilt: FileLock?

    /// The maximum number of attempts to open a file that another process keeps replacing.
    private static let attempts = 8

    /// Acquires both locks.
    ///
    /// - Throws: `locked` if another process holds a lock, or the reason why a lock can't be created.
    init(_ files: StoreFiles, _ reserve: DiskReserve) throws(OutboxError) {
        self.files = files
        try withSystem(files.path, files.createDirectory())
        // The database comes first, so that a second process doesn't touch the other lock. Opening the file reports any
        // other problem.
        do throws(OutboxError) { try hold() } catch { if error.code == .locked { throw error } }
        // Once the lock file exists, any file at the path would pass for an outbox.
        try files.requireOutbox()
        // A full disk must not keep the service from starting, not even for the few bytes of the lock file.
        try reserve.useIfNeeded(for: takeLock())
    }

    /// Makes sure that this process holds the locks on the store and on the rebuilt store, if these files exist.
    func hold() throws(OutboxError) {
        if store?.isHeld(at: files.path) != true {
            store = nil
            store = try Self.lock(files.path, files)
        }
        if rebuilt?.isHeld(at: files.rebuilt) != true { try holdRebuilt() }
    }

    /// Locks the rebuilt store, which has just been created.
    func holdRebuilt() throws(OutboxError) {
        rebuilt = nil
        rebuilt = try Self.lock(files.rebuilt, files)
    }

    /// Records that the rebuilt store has replaced the store.
    func adoptRebuilt() { store = rebuilt.take() }

    /// Makes sure that the open store is still the one at its path, and that no other process holds the lock file.
    /// Recreates the lock file if it was removed. Must be called before each commit.
    ///
    /// - Throws: `damaged` if the store was removed or replaced; `locked` if another process holds the lock file.
    func verify() throws(OutboxError) {
        guard store?.isHeld(at: files.path) == true else {
            throw OutboxError(.damaged, path: files.path, .removedInUse)
        }
        if lock?.isHeld(at: files.lock) == true { return }
        lock = nil
        do throws(OutboxError) { try takeLock() } catch {
            // This process holds the lock on the database itself: the store is safe even without space for the lock
            // file.
            if error.code == .locked { throw error }
        }
    }

    private func takeLock() throws(OutboxError) {
        do throws(FileLock.Failure) { lock = try files.disk.lock(at: files.lock) } catch {
            throw OutboxError(error, path: files.path)
        }
    }

    /// Locks the file at `path`. Returns `nil` if there is no regular file; opening the store then reports the reason.
    private static func lock(_ path: String, _ files: StoreFiles) throws(OutboxError) -> FileLock? {
        for _ in 0..<attempts {
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
