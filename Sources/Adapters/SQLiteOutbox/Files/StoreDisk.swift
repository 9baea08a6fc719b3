package import LinuxPlatform

/// The disk on which an outbox is stored. All file operations of the outbox and of SQLite go through this port.
///
/// Each method does the same as the method of the same name in `FileSystem` or `FileLock`. `SystemDisk` is the real
/// disk. The disks of tests fail, fill up, or lose data that hasn't been synchronised.
package protocol StoreDisk: Sendable {
    /// The name of the SQLite VFS with which databases are opened (sqlite.org/vfs.html); `nil` for SQLite's default.
    var databaseFileSystem: String? { get }

    func entry(at path: String) throws(SystemError) -> FileStatus?
    func names(inDirectory path: String) throws(SystemError) -> [String]
    /// Returns `count` bytes, starting at `offset`; fewer if the file ends first.
    func read(_ count: Int, at offset: Int64, of path: String) throws(SystemError) -> [UInt8]

    /// Returns the offset of the first data at or after `offset`, skipping the unwritten ranges (holes) of a sparse
    /// file. Returns `nil` if there is no such data.
    func nextDataOffset(from offset: Int64, of path: String) throws(SystemError) -> Int64?

    func createDirectory(at path: String) throws(SystemError)
    func createFile(at path: String) throws(SystemError)
    func reserve(_ bytes: Int64, at path: String) throws(SystemError)
    func rename(_ source: String, to destination: String) throws(SystemError)
    func removeFile(at path: String) throws(SystemError)
    /// Writes `bytes` to a new file, syncs it to the disk, and atomically renames it to `path`.
    func replaceFile(at path: String, with bytes: [UInt8]) throws(SystemError)

    func synchronizeFile(at path: String) throws(SystemError)
    func synchronizeDirectory(at path: String) throws(SystemError)

    func lock(at path: String) throws(FileLock.Failure) -> FileLock
    func lock(file path: String) throws(FileLock.Failure) -> FileLock
}

extension StoreDisk {
    /// Returns `offset` unchanged, as if the file had no unwritten ranges.
    package func nextDataOffset(from offset: Int64, of path: String) throws(SystemError) -> Int64? { offset }

    /// Returns the size of the file at `path` in bytes; 0 if no regular file exists there.
    package func fileSize(at path: String) throws(SystemError) -> Int64 {
        guard let status = try entry(at: path), status.kind == .file else { return 0 }
        return status.bytes
    }
}

/// The real disks of this host.
package struct SystemDisk: StoreDisk {
    package var databaseFileSystem: String? { nil }

    package init() {}

    package func entry(at path: String) throws(SystemError) -> FileStatus? { try FileSystem.entry(at: path) }

    package func names(inDirectory path: String) throws(SystemError) -> [String] {
        try FileSystem.names(inDirectory: path)
    }

    package func read(_ count: Int, at offset: Int64, of path: String) throws(SystemError) -> [UInt8] {
        try FileSystem.read(count, at: offset, of: path)
    }

    package func nextDataOffset(from offset: Int64, of path: String) throws(SystemError) -> Int64? {
        try FileSystem.nextDataOffset(from: offset, of: path)
    }

    package func createDirectory(at path: String) throws(SystemError) { try FileSystem.createDirectory(at: path) }

    package func createFile(at path: String) throws(SystemError) { try FileSystem.createFile(at: path) }

    package func reserve(_ bytes: Int64, at path: String) throws(SystemError) {
        try FileSystem.reserve(bytes, at: path)
    }

    package func rename(_ source: String, to destination: String) throws(SystemError) {
        try FileSystem.rename(source, to: destination)
    }

    package func removeFile(at path: String) throws(SystemError) { try FileSystem.removeFile(at: path) }

    package func replaceFile(at path: String, with bytes: [UInt8]) throws(SystemError) {
        try FileReplacement(at: path).commit(bytes)
    }

    package func synchronizeFile(at path: String) throws(SystemError) { try FileSystem.synchronizeFile(at: path) }

    package func synchronizeDirectory(at path: String) throws(SystemError) {
        try FileSystem.synchronizeDirectory(at: path)
    }

    package func lock(at path: String) throws(FileLock.Failure) -> FileLock { try FileLock(path: path) }

    package func lock(file path: String) throws(FileLock.Failure) -> FileLock { try FileLock(file: path) }
}
