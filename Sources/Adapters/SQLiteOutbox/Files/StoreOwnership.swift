import Glibc
import LinuxPlatform

/// What makes this process the one that writes a store: a lock on the store's own file, which holds by whichever name
/// it is opened, and the lock beside it, which is there before any store is and which older releases know.
///
/// A descriptor of the store must not be closed while SQLite has the file open: the locks of SQLite would go with it
/// (POSIX). So `hold` and what comes after it want a store that is not open.
final class StoreOwnership {
    private let files: StoreFiles
    private var lock: FileLock?
    /// Of the file at `files.path`.
    private var store: FileLock?
    /// Of the store in the making.
    private var rebuilt: FileLock?

    /// How often the file is opened again when it was replaced at the moment of its opening.
    private static let attempts = 8

    /// - Throws: `locked`, and what keeps a lock from being made.
    init(_ files: StoreFiles, _ reserve: DiskReserve) throws(StoreError) {
        self.files = files
        try withSystem(files.path, files.createFolder())
        // First of all the file: whoever comes second leaves the lock of the first alone. What else is wrong with the
        // file is said when it is opened.
        do throws(StoreError) { try hold() } catch { if error.isLocked { throw error } }
        // The lock would make an outbox of whatever lies there.
        try withSystem(files.path, files.requireOutbox())
        // Not even the lock's few bytes: a full disk must not keep the service from starting.
        try reserve.lending(takeLock())
    }

    /// Makes sure that the files which are there now, store and rebuilt store, are this process's.
    func hold() throws(StoreError) {
        if store?.isHeld(at: files.path) != true {
            store = nil
            store = try Self.lock(files.path, files)
        }
        if rebuilt?.isHeld(at: files.rebuilt) != true { try holdRebuilt() }
    }

    /// Makes sure of the rebuilt store, which has just been made.
    func holdRebuilt() throws(StoreError) {
        rebuilt = nil
        rebuilt = try Self.lock(files.rebuilt, files)
    }

    /// The rebuilt store has taken the store's place.
    func adoptRebuilt() { store = rebuilt.take() }

    /// Whether the store that is open is still the one at its path, and no other process has its lock: checked before
    /// each commit. A lock that was removed is made again.
    ///
    /// - Throws: `damaged` when the store was removed or replaced; `locked`.
    func verify() throws(StoreError) {
        guard store?.isHeld(at: files.path) == true else {
            throw StoreError(.damaged, path: files.path, reason: "it was removed or replaced while it was in use")
        }
        if lock?.isHeld(at: files.lock) == true { return }
        lock = nil
        do throws(StoreError) { try takeLock() } catch {
            // The file itself is held: without room for the lock beside it the store is safe all the same.
            if error.isLocked { throw error }
        }
    }

    private func takeLock() throws(StoreError) {
        do throws(FileLock.Failure) { lock = try files.disk.lock(at: files.lock) } catch {
            throw StoreError(error, path: files.path)
        }
    }

    /// `nil` where no file is; what else is there gives way, or is reported when the store is opened.
    private static func lock(_ path: String, _ files: StoreFiles) throws(StoreError) -> FileLock? {
        for _ in 0..<attempts {
            let status = try withSystem(files.path, FileStatus(at: path))
            guard status?.kind == .file else { return nil }
            let lock: FileLock
            do throws(FileLock.Failure) { lock = try files.disk.lock(file: path) } catch {
                if case .system(let cause) = error, cause.number == ENOENT { continue }
                throw StoreError(error, path: files.path)
            }
            if lock.isHeld(at: path) { return lock }
        }
        throw StoreError(.unusable, path: files.path, reason: "it is replaced again and again")
    }
}
