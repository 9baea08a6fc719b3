import LinuxPlatform
import LocationReporting
import TimeAndChance

/// The store's file and those beside it.
struct StoreFiles: Sendable {
    /// The database.
    let path: String
    /// Where all of them lie.
    let disk: any StoreDisk

    /// SQLite's write-ahead log: commits that are not in the database yet.
    var log: String { path + "-wal" }
    /// SQLite's index of the log, rebuilt whenever it is missing.
    var index: String { path + "-shm" }
    /// Held by the process that owns the store.
    var lock: String { path + ".lock" }
    /// Space that is given back when the disk is full.
    var reserve: String { path + ".reserve" }
    /// A store in the making; complete once nothing lies at `path`.
    var rebuilt: String { path + ".rebuilt" }

    private var damagedPrefix: String { path + ".damaged-" }

    /// Makes sure that what SQLite is going to write is this user's own, and that nobody else can change that.
    ///
    /// SQLite follows no link to its log and index, and looks at nothing else. Whatever lies in the way is left there.
    func requireOwn(for user: UInt32) throws(SystemError) {
        try FolderTrust.require(FileSystem.parent(of: path), for: user)
        for name in [path, log, index, path + "-journal", lock] {
            try FileSystem.requireOwnFile(at: name, for: user)
        }
    }

    /// Whether a store in the making is there, and nothing else in its place.
    func isRebuiltThere() throws(SystemError) -> Bool {
        try FileStatus(at: rebuilt)?.isOwnFile ?? false
    }

    /// A name that says when, and that is still free: `outbox.sqlite.damaged-20260105T101530.250Z`.
    func damaged(at time: UTCTime) throws(SystemError) -> String {
        let name = damagedPrefix + String(time.description.filter { $0 != "-" && $0 != ":" })
        var (candidate, number) = (name, 2)
        while try isTaken(candidate) {
            candidate = "\(name)-\(number)"
            number += 1
        }
        return candidate
    }

    private func isTaken(_ name: String) throws(SystemError) -> Bool {
        if try disk.entry(at: name) != nil { return true }
        return try disk.entry(at: name + "-wal") != nil
    }

    /// Gives the reserve back; `false` when something else lies there and stays.
    func giveReserveBack() -> Bool {
        do throws(SystemError) { try disk.removeFile(at: reserve) } catch { return false }
        return true
    }

    /// Files set aside must not fill the disk: all but the newest `count` go, each with its log.
    func removeDamaged(exceptNewest count: Int) throws(SystemError) {
        let folder = FileSystem.parent(of: path)
        let prefix = damagedPrefix.utf8.dropFirst(folder == "." ? 0 : folder == "/" ? 1 : folder.utf8.count + 1)
        let names = try disk.names(inFolder: folder).filter { $0.utf8.starts(with: prefix) }
        let bases = Set(names.map { $0.hasSuffix("-wal") ? String($0.dropLast(4)) : $0 }).sorted()
        for base in bases.dropLast(count) {
            for name in [base, base + "-wal"] { try disk.removeFile(at: "\(folder)/\(name)") }
        }
    }

    /// Moves database and log aside under one name, so that SQLite still sees them as a pair.
    ///
    /// The database goes first: once it is away, the rebuilt store is known to be complete, and after a power cut at
    /// any point the next start goes on from there. `nil` when there was neither.
    func setAside(at time: UTCTime) throws(SystemError) -> String? {
        var isAny = false
        let name = try damaged(at: time)
        let folder = FileSystem.parent(of: path)
        for (source, destination) in [(path, name), (log, name + "-wal")]
        where try disk.entry(at: source) != nil {
            try disk.rename(source, to: destination)
            try disk.synchronizeFolder(at: folder)
            isAny = true
        }
        try disk.removeFile(at: index)
        return isAny ? name : nil
    }

    /// Puts the complete rebuilt store in its place.
    func adoptRebuilt() throws(SystemError) {
        try disk.rename(rebuilt, to: path)
        try disk.synchronizeFolder(at: FileSystem.parent(of: path))
    }
}

extension StoreFiles {
    /// Finds the store of a configured path: behind its links, those of `user` and root, for everything else lies
    /// beside the file itself, as SQLite's log does. Nothing may be there yet.
    init(
        at path: String, on disk: any StoreDisk = SystemDisk(), missing: FolderTrust.Missing = .refused,
        for user: UInt32 = EffectiveUser.current
    ) throws(SystemError) {
        self.init(path: try FolderTrust.destination(of: path, missing: missing, for: user), disk: disk)
    }
}

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

    /// How often the file is looked for anew that was replaced at the moment of its opening.
    private static let attempts = 8

    /// - Throws: `locked`, and what keeps a lock from being made.
    init(_ files: StoreFiles) throws(OutboxError) {
        self.files = files
        do throws(SystemError) { try files.disk.createFolder(at: FileSystem.parent(of: files.path)) } catch {
            throw outboxError(StoreError(error, path: files.path))
        }
        // First of all the file: whoever comes second leaves the lock of the first alone. What else is wrong with the
        // file is said when it is opened.
        do throws(StoreError) { try hold() } catch { if error.kind == .locked { throw outboxError(error) } }
        do throws(StoreError) { try takeLock() } catch {
            // Not even the lock's few bytes: a full disk must not keep the service from starting.
            guard error.kind == .full, files.giveReserveBack() else { throw outboxError(error) }
            do throws(StoreError) { try takeLock() } catch { throw outboxError(error) }
        }
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

    /// Whether the store that is open is still the one at its path, and nobody else has its lock: to be asked before
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
            if error.kind == .locked { throw error }
        }
    }

    private func takeLock() throws(StoreError) {
        do throws(FileLock.Failure) { lock = try files.disk.lock(at: files.lock) } catch {
            throw StoreError(error, path: files.path)
        }
    }

    /// `nil` where no file is; what else is there gives way, or is told when the store is opened.
    private static func lock(_ path: String, _ files: StoreFiles) throws(StoreError) -> FileLock? {
        for _ in 0..<attempts {
            let status = try withSystem(files.path) { () throws(SystemError) in try FileStatus(at: path) }
            guard status?.kind == .file else { return nil }
            let lock: FileLock
            do throws(FileLock.Failure) { lock = try files.disk.lock(file: path) } catch {
                if case .system(let cause) = error, cause.number == noSuchFile { continue }
                throw StoreError(error, path: files.path)
            }
            if lock.isHeld(at: path) { return lock }
        }
        throw StoreError(.unusable, path: files.path, reason: "it is replaced again and again")
    }

    /// ENOENT on Linux.
    private static let noSuchFile: CInt = 2
}
