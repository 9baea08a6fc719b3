import CLinux
import Glibc
import Reporting

/// File operations for programs whose files must survive a power cut. Errors name the path.
package enum FileSystem {
    /// Returns the status of the file at `path`, following symbolic links; `nil` if nothing exists there.
    package static func entry(at path: String) throws(SystemError) -> FileStatus? {
        do throws(SystemError) { return try FileStatus(followingLinksAt: path) } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw error }
            return nil
        }
    }

    package enum Use: Sendable { case read, write, execute }

    /// Whether this user may use the file at `path`, following symbolic links. Writing to a directory means creating
    /// files in it.
    package static func isAllowed(_ use: Use, at path: String) -> Bool { obstacle(to: use, at: path) == nil }

    /// Returns the reason why this user may not use the file at `path`; `nil` if the use is allowed.
    package static func obstacle(to use: Use, at path: String) -> SystemError? {
        let mode =
            switch use {
            case .read: R_OK
            case .write: (try? FileStatus(followingLinksAt: path))?.kind == .directory ? W_OK | X_OK : R_OK | W_OK
            case .execute: X_OK
            }
        guard unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0 else { return nil }
        return SystemError(call: "access \(path)", number: errno)
    }

    /// Returns the topmost directory above `path` that is missing or that this user can't enter; `nil` if there is no
    /// such directory.
    package static func closedDirectory(above path: String) -> String? {
        var directory = parent(of: path)
        var closed: String?
        while true {
            if (try? FileStatus(followingLinksAt: directory)) == nil || !isAllowed(.execute, at: directory) {
                closed = directory
            }
            guard directory != "/", directory != "." else { return closed }
            directory = parent(of: directory)
        }
    }

    /// Whether the file system at `path` is mounted read-only.
    package static func isReadOnly(at path: String) -> Bool {
        var status = statvfs()
        return unsafe statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Throws unless `path` is unused, or is a file to which `user` may write.
    package static func requireOwnFile(
        at path: String, for user: UInt32 = geteuid()
    ) throws(SystemError) {
        guard let reason = try FileStatus(at: path)?.writeRefusal(for: user) else { return }
        throw SystemError(refusing: path, because: reason)
    }

    /// Whether two paths lead to the same existing file.
    package static func isSameFile(_ one: String, _ other: String) -> Bool {
        guard let first = try? entry(at: one), let second = try? entry(at: other) else { return false }
        return first.identity == second.identity
    }

    /// Returns the size of the file at `path` in bytes; 0 if no regular file exists there.
    package static func fileSize(at path: String) throws(SystemError) -> Int64 {
        guard let status = try entry(at: path), status.kind == .file else { return 0 }
        return status.bytes
    }

    /// Returns the number of bytes that an ordinary user can still write to the file system of `path`. The part
    /// reserved for root doesn't count. Returns `nil` if the number is unknown.
    package static func freeBytes(at path: String) -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        return Int64(exactly: Double(status.f_bavail) * Double(status.f_frsize))
    }

    /// Returns the number of files that can still be created on the file system of `path`; `nil` if the file system
    /// doesn't count them.
    package static func freeFiles(at path: String) -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0, status.f_files > 0 else { return nil }
        return Int64(exactly: Double(status.f_favail))
    }

    /// Checks whether files can be created in `directory`, by creating and removing an empty subdirectory, which needs
    /// as much space as a file. Returns the error if that fails; otherwise `nil`.
    package static func obstacleToWriting(in directory: String) -> SystemError? {
        let path = "\(directory)/waypost-check-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
        guard unsafe mkdir(path, 0o700) == 0 else { return SystemError(call: "write to \(directory)", number: errno) }
        unsafe rmdir(path)
        return nil
    }

    /// The kind of storage behind a file system.
    package enum Volume: Sendable {
        /// Memory, whose contents are lost when the machine restarts (tmpfs, ramfs).
        case memory
        /// A view of the kernel's own state (proc, sysfs, cgroup, devpts), in which no files can be created.
        case kernel
        /// A disk, or unknown storage.
        case other
    }

    /// Returns the kind of storage behind an existing path.
    package static func volume(of path: String) -> Volume {
        switch unsafe clinux_file_system(path) {
        case 0x0102_1994, 0x8584_58F6: .memory
        case 0x9FA0, 0x6265_6572, 0x0027_E0EB, 0x6367_7270, 0x1CD1: .kernel
        default: .other
        }
    }

    /// Creates a directory and its missing ancestors, for this user only. Throws unless all directories of the path are
    /// trusted.
    package static func createDirectory(at path: String) throws(SystemError) {
        try DirectoryTrust.require(path, missing: .created)
    }

    /// Returns an unused path for temporary files. It is in the directory that `TMPDIR` names, or in `/tmp` if that
    /// directory doesn't exist.
    package static func temporaryPath(_ name: String) -> String {
        let directory = ProcessEnvironment.variables["TMPDIR"].flatMap(resolved) ?? "/tmp"
        return "\(directory)/\(name)-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    }

    /// Removes a temporary directory and as much of its contents as possible. Ignores errors.
    package static func removeDirectory(at path: String) {
        for name in visibleNames(inDirectory: path) where unsafe unlink("\(path)/\(name)") != 0 {
            removeDirectory(at: "\(path)/\(name)")
        }
        unsafe rmdir(path)
    }

    /// Returns the directory that contains `path`: `/` for `/file`, `.` for `file`.
    package static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the last component of `path`: `file` for `/directory/file`.
    package static func lastComponent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// Returns `count` bytes of a file, starting at `offset`; fewer if the file ends first.
    package static func read(_ count: Int, at offset: Int64, of path: String) throws(SystemError) -> [UInt8] {
        let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            var span = bytes.mutableSpan
            let more = try unsafe span.withUnsafeMutableBytes { buffer throws(SystemError) in
                try valueOrSystemError("read \(path)") {
                    unsafe pread(
                        descriptor.raw, buffer.baseAddress?.advanced(by: done), count - done, Int(offset) + done)
                }
            }
            if more == 0 { break }
            done += more
        }
        bytes.removeLast(count - done)
        return bytes
    }

    /// Returns the offset of the first data at or after `offset`, skipping the unwritten ranges (holes) of a sparse
    /// file. Returns `nil` if only a hole follows, and `offset` if the file system doesn't report holes.
    package static func nextDataOffset(from offset: Int64, of path: String) throws(SystemError) -> Int64? {
        let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let next = lseek(descriptor.raw, off_t(offset), seekData)
        if next >= 0 { return Int64(next) }
        return errno == ENXIO ? nil : offset
    }

    /// The Linux value of `SEEK_DATA`, which the Glibc module doesn't export.
    private static let seekData: CInt = 3

    /// Returns the target of the symbolic link at `path`; `nil` if `path` isn't a symbolic link or can't be read.
    package static func linkTarget(at path: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        return count < 0 ? nil : String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns `path` with all symbolic links resolved; `nil` if nothing exists there.
    package static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// Returns `path` with the symbolic links in its existing part resolved. The rest of the path is unchanged.
    package static func destination(of path: String) -> String {
        if let real = resolved(path) { return real }
        let directory = parent(of: path)
        guard directory != path, directory != "." else { return path }
        let real = destination(of: directory)
        return (real == "/" ? "" : real) + "/" + lastComponent(of: path)
    }

    /// Returns the names of the entries in a directory, in no particular order.
    package static func names(inDirectory path: String) throws(SystemError) -> [String] {
        guard let directory = unsafe opendir(path) else { throw SystemError(call: "open \(path)", number: errno) }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the names of the entries in a directory; an empty array if the directory can't be read.
    static func visibleNames(inDirectory path: String) -> [String] {
        (try? names(inDirectory: path)) ?? []
    }

    /// Renames a file within one file system. Replaces an existing file at `destination`.
    package static func rename(_ source: String, to destination: String) throws(SystemError) {
        try valueOrSystemError("rename \(source) to \(destination)") { unsafe Glibc.rename(source, destination) }
    }

    /// Removes a file from a trusted directory. A missing file is not an error.
    ///
    /// In a sticky directory, only this user's own files are removed. This holds for root too, whom the kernel would
    /// let remove any file.
    package static func removeFile(
        at path: String, in sharing: DirectoryTrust.Sharing = .sticky
    ) throws(SystemError) {
        guard try DirectoryTrust.require(parent(of: path), sharing, missing: .allowed) else { return }
        if let status = try FileStatus(at: path), status.owner != geteuid(), isSticky(parent(of: path)) {
            throw SystemError(refusing: path, because: .notRemoved(owner: status.ownerName))
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw SystemError(call: "remove \(path)", number: errno)
        }
    }

    private static func isSticky(_ directory: String) -> Bool {
        (try? FileStatus(followingLinksAt: directory))?.isSticky == true
    }

    /// Flushes a file's contents to the disk.
    package static func synchronizeFile(at path: String) throws(SystemError) {
        let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        try valueOrSystemError("sync \(path)") { fsync(descriptor.raw) }
    }

    /// Flushes a directory's entries to the disk, so that a rename survives a power cut.
    package static func synchronizeDirectory(at path: String) throws(SystemError) {
        let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
        try valueOrSystemError("sync \(path)") { fsync(descriptor.raw) }
    }

    /// Creates an empty file that only this user can access. Replaces an existing file.
    package static func createFile(at path: String) throws(SystemError) {
        try removeFile(at: path)
        _ = try OwnedDescriptor(writing: path, O_WRONLY | O_CREAT | O_EXCL)
    }

    /// Creates a file of `bytes` bytes and allocates its blocks. Keeps an existing file of this size that belongs to
    /// this user, and replaces other files. Never replaces a directory, or another user's file in a sticky directory.
    ///
    /// - Throws: `ENOSPC` if the device has no room. In that case no file is left behind.
    package static func reserve(_ bytes: Int64, at path: String) throws(SystemError) {
        if let status = try FileStatus(at: path) {
            if status.isOwnFile, status.bytes == bytes { return }
            if status.kind == .directory { throw SystemError(refusing: path, because: .directory) }
            if !status.isOwnFile { try removeFile(at: path) }
        }
        let descriptor = try OwnedDescriptor(writing: path, O_WRONLY | O_CREAT)
        try valueOrSystemError("truncate \(path)") { ftruncate(descriptor.raw, 0) }
        let number = posix_fallocate(descriptor.raw, 0, off_t(bytes))
        if number != 0 {
            try removeFile(at: path)
            throw SystemError(call: "reserve \(bytes) bytes at \(path)", number: number)
        }
    }
}
