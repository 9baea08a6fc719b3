import LinuxPlatform
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
    /// How far the store had come.
    var count: String { path + ".count" }
    /// A store in the making; complete once nothing lies at `path`.
    var rebuilt: String { path + ".rebuilt" }

    private var damagedPrefix: String { path + ".damaged-" }

    /// Makes sure that what SQLite is going to write is this user's own, and that no other user can change that.
    ///
    /// SQLite follows no link to its log and index, and looks at nothing else. Whatever lies in the way is left there.
    func requireOwn(for user: UInt32) throws(SystemError) {
        try FolderTrust.require(FileSystem.parent(of: path), for: user)
        if try FileStatus(at: path)?.kind == .folder {
            throw SystemError(refusing: path, because: "\(path) is a folder, not a file; name a file in it")
        }
        for name in [path, log, index, path + "-journal", lock] {
            try FileSystem.requireOwnFile(at: name, for: user)
        }
    }

    /// Whether a store in the making is there, and nothing else in its place.
    func isRebuiltThere() throws(SystemError) -> Bool {
        try FileStatus(at: rebuilt)?.isOwnFile ?? false
    }

    /// Removes what has been made of such a store.
    func removeRebuilt() throws(SystemError) {
        for suffix in ["", "-wal", "-shm"] { try disk.removeFile(at: rebuilt + suffix) }
    }

    /// A name that says when, and that is still free: `outbox.sqlite.damaged-20260105T101530.250Z`.
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

    /// Damaged files that were renamed must not fill the disk: all but the newest `count` go, each with its log.
    func removeDamaged(exceptNewest count: Int) throws(SystemError) {
        let folder = FileSystem.parent(of: path)
        let prefix = damagedPrefix.utf8.dropFirst(folder == "." ? 0 : folder == "/" ? 1 : folder.utf8.count + 1)
        let names = try disk.names(inFolder: folder).filter { $0.utf8.starts(with: prefix) }
        let bases = Set(names.map { $0.hasSuffix("-wal") ? String($0.dropLast(4)) : $0 }).sorted()
        for base in bases.dropLast(count) {
            for name in [base, base + "-wal"] { try disk.removeFile(at: "\(folder)/\(name)") }
        }
    }

    /// Renames database and log together, so that SQLite still sees them as a pair.
    ///
    /// The database goes first: once it is away, the rebuilt store is known to be complete, and after a power cut at
    /// any point the next start continues from there. `nil` when there was neither.
    func renameDamaged(at time: UTCTime) throws(SystemError) -> String? {
        var isAny = false
        let name = try damaged(at: time)
        for (source, destination) in [(path, name), (log, name + "-wal")]
        where try disk.entry(at: source) != nil {
            try disk.rename(source, to: destination)
            try synchronizeFolder()
            isAny = true
        }
        try disk.removeFile(at: index)
        return isAny ? name : nil
    }

    /// Puts the complete rebuilt store in its place.
    func adoptRebuilt() throws(SystemError) {
        try disk.rename(rebuilt, to: path)
        try synchronizeFolder()
    }

    /// Creates the folder of the store if it is missing.
    func createFolder() throws(SystemError) { try disk.createFolder(at: FileSystem.parent(of: path)) }

    func synchronizeFolder() throws(SystemError) { try disk.synchronizeFolder(at: FileSystem.parent(of: path)) }
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
