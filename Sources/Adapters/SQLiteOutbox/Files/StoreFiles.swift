import LinuxPlatform
import Reporting
import TimeAndChance

/// The store's database, and the files next to it.
struct StoreFiles: Sendable {
    /// The database.
    let path: String
    /// The disk that contains all files.
    let disk: any StoreDisk

    /// SQLite's write-ahead log: commits that haven't been moved into the database yet.
    var log: String { path + "-wal" }
    /// SQLite's index of the log. SQLite recreates it if it is missing.
    var index: String { path + "-shm" }
    /// The lock that the store's owner holds.
    var lock: String { path + ".lock" }
    /// The file of `DiskReserve`.
    var reserve: String { path + ".reserve" }
    /// The file of `StoreCount`.
    var count: String { path + ".count" }
    /// A store that is being built. It is complete if there is no file at `path`.
    var rebuilt: String { path + ".rebuilt" }

    private var damagedPrefix: String { path + ".damaged-" }

    /// Makes sure that `user` owns the files that SQLite writes, and that no other user can replace them.
    ///
    /// SQLite itself only rejects links to its log and index. Other users' files aren't touched.
    func requireOwn(for user: UInt32) throws(OutboxError) {
        _ = try withSystem(path, DirectoryTrust.require(FileSystem.parent(of: path), for: user))
        if try withSystem(path, FileStatus(at: path))?.kind == .directory {
            throw OutboxError(.refused, path: path, .directory)
        }
        for name in [path, log, index, path + "-journal", lock] {
            try withSystem(path, FileSystem.requireOwnFile(at: name, for: user))
        }
    }

    /// Whether a store is being built, in a file that this user owns.
    func ownsRebuilt() throws(SystemError) -> Bool {
        try FileStatus(at: rebuilt)?.isOwnFile ?? false
    }

    /// Removes the store that is being built.
    func removeRebuilt() throws(SystemError) {
        for suffix in ["", "-wal", "-shm"] { try disk.removeFile(at: rebuilt + suffix) }
    }

    /// Returns an unused path that contains the time, such as `outbox.sqlite.damaged-20260105T101530.250Z`.
    private func damaged(at time: UTCTime) throws(SystemError) -> String {
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

    /// Removes all but the newest `count` damaged databases with their logs, so that they don't fill the disk.
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

    /// Renames database and log together, so that SQLite still sees them as a pair. Returns the database's new path, or
    /// `nil` if neither exists.
    ///
    /// The database is renamed first. Its absence shows that the rebuilt store is complete, so after a power cut the
    /// next start continues from there.
    func renameDamaged(at time: UTCTime) throws(SystemError) -> String? {
        var isAny = false
        let name = try damaged(at: time)
        for (source, destination) in [(path, name), (log, name + "-wal")]
        where try disk.entry(at: source) != nil {
            try disk.rename(source, to: destination)
            try synchronizeDirectory()
            isAny = true
        }
        try disk.removeFile(at: index)
        return isAny ? name : nil
    }

    /// Renames the complete rebuilt store to `path`.
    func adoptRebuilt() throws(SystemError) {
        try disk.rename(rebuilt, to: path)
        try synchronizeDirectory()
    }

    /// Creates the store's directory if it is missing.
    func createDirectory() throws(SystemError) { try disk.createDirectory(at: FileSystem.parent(of: path)) }

    func synchronizeDirectory() throws(SystemError) { try disk.synchronizeDirectory(at: FileSystem.parent(of: path)) }
}

extension StoreFiles {
    /// Creates the paths for a configured outbox, which need not exist. Links that belong to `user` or root are
    /// followed, because the other files, such as SQLite's log, are next to the database itself.
    init(
        at path: String, on disk: any StoreDisk = SystemDisk(), missing: DirectoryTrust.Missing = .rejected,
        for user: UInt32 = EffectiveUser.current
    ) throws(SystemError) {
        self.init(path: try DirectoryTrust.destination(of: path, missing: missing, for: user), disk: disk)
    }
}
