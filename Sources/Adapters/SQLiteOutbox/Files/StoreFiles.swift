import LinuxPlatform
import Reporting
import TimeAndRandomness

/// The paths of the store's database and of the files next to it.
struct StoreFiles: Sendable {
    /// The path of the database.
    let path: String
    /// The disk on which all these files are stored.
    let disk: any StoreDisk

    /// The path of SQLite's write-ahead log. It contains the commits that haven't been moved into the database yet.
    var log: String { path + "-wal" }
    /// The path of SQLite's index of the log. SQLite creates it again if it is missing.
    var index: String { path + "-shm" }
    /// The path of the lock file that the store's owner keeps locked.
    var lock: String { path + ".lock" }
    /// The path of the `DiskReserve`.
    var reserve: String { path + ".reserve" }
    /// The path of the note of `StoreCount`.
    var counterNote: String { path + ".count" }
    /// The path at which a new store is built. The store there is complete if the file at `path` is missing.
    var rebuilt: String { path + ".rebuilt" }

    private var damagedPrefix: String { path + ".damaged-" }

    /// Makes sure that the files that SQLite writes belong to `user`, and that no other user can replace them.
    ///
    /// This is needed because SQLite itself rejects only symbolic links in place of its log and index. Other users'
    /// files aren't changed.
    func requireOwnFiles(for user: UInt32) throws(OutboxError) {
        _ = try withSystem(path, DirectoryTrust.require(FileSystem.parent(of: path), for: user))
        if try withSystem(path, FileStatus(at: path))?.kind == .directory {
            throw OutboxError(.refused, path: path, .directory)
        }
        for name in [path, log, index, path + "-journal", lock] {
            try withSystem(path, FileSystem.requireOwnFile(at: name, for: user))
        }
    }

    /// Whether there is a file at `rebuilt` that belongs to this user.
    func ownsRebuilt() throws(SystemError) -> Bool {
        try FileStatus(at: rebuilt)?.isOwnFile ?? false
    }

    /// Removes the store at `rebuilt`, with its log and index.
    func removeRebuilt() throws(SystemError) {
        for suffix in ["", "-wal", "-shm"] { try disk.removeFile(at: rebuilt + suffix) }
    }

    /// Returns an unused path for a damaged database. It contains the time, such as
    /// `outbox.sqlite.damaged-20260105T101530.250Z`.
    private func unusedDamagedPath(at time: UTCTime) throws(SystemError) -> String {
        let name = damagedPrefix + String(time.description.filter { $0 != "-" && $0 != ":" })
        var candidate = name
        var number = 2
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

    /// Removes the damaged databases and their logs, except the newest `count`, so that they don't fill the disk.
    func removeDamaged(exceptNewest count: Int) throws(SystemError) {
        let directory = FileSystem.parent(of: path)
        let prefix = damagedPrefix.utf8.dropFirst(
            directory == "." ? 0 : directory == "/" ? 1 : directory.utf8.count + 1)
        let names = try disk.names(inDirectory: directory).filter { $0.utf8.starts(with: prefix) }
        let bases = Set(names.map { $0.hasSuffix("-wal") ? String($0.dropLast(4)) : $0 }).sorted()
        for base in bases.dropLast(count) {
            for name in [base, base + "-wal"] { try disk.removeFile(at: "\(directory)/\(name)") }
        }
    }

    /// Renames the damaged database and its log to matching names, so that SQLite still uses the log with the database.
    /// Returns the new path of the database, or of the log if there is no database; `nil` if neither file exists.
    ///
    /// The database is renamed first. If a power cut follows, its absence shows the next start that the rebuilt store
    /// is complete and can take its place.
    func renameDamaged(at time: UTCTime) throws(SystemError) -> String? {
        var firstName: String?
        let name = try unusedDamagedPath(at: time)
        for (source, destination) in [(path, name), (log, name + "-wal")]
        where try disk.entry(at: source) != nil {
            try disk.rename(source, to: destination)
            try synchronizeDirectory()
            firstName = firstName ?? destination
        }
        try disk.removeFile(at: index)
        return firstName
    }

    /// Renames the rebuilt store, which must be complete, to `path`.
    func adoptRebuilt() throws(SystemError) {
        try disk.rename(rebuilt, to: path)
        try synchronizeDirectory()
    }

    /// Creates the store's directory if it is missing.
    func createDirectory() throws(SystemError) { try disk.createDirectory(at: FileSystem.parent(of: path)) }

    func synchronizeDirectory() throws(SystemError) { try disk.synchronizeDirectory(at: FileSystem.parent(of: path)) }
}

extension StoreFiles {
    /// Creates the paths for the outbox configured at `path`, which need not exist. Symbolic links that belong to
    /// `user` or root are resolved, because SQLite keeps its other files next to the database itself.
    init(
        at path: String, on disk: any StoreDisk = SystemDisk(), missing: DirectoryTrust.Missing = .rejected,
        for user: UInt32 = EffectiveUser.current
    ) throws(SystemError) {
        self.init(path: try DirectoryTrust.destination(of: path, missing: missing, for: user), disk: disk)
    }
}
