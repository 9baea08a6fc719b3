import CLinux
import Glibc

/// What programs that must survive a power cut do with files: each call names its path when it fails.
package enum FileSystem {
    /// What lies at `path`, links followed; `nil` when nothing does.
    package static func entry(at path: String) throws(SystemError) -> FileStatus? {
        do throws(SystemError) { return try FileStatus(behind: path) } catch {
            guard error.number == ENOENT || error.number == ENOTDIR else { throw error }
            return nil
        }
    }

    /// What this user may do with what lies at a path.
    package enum Use: Sendable { case read, write, execute }

    /// Whether the system lets this user do it, links followed; of a folder, make files in it.
    package static func isAllowed(_ use: Use, at path: String) -> Bool { obstacle(to: use, at: path) == nil }

    /// Returns why the system doesn't let this user do it; `nil` if it does.
    package static func obstacle(to use: Use, at path: String) -> SystemError? {
        let mode =
            switch use {
            case .read: R_OK
            case .write: (try? FileStatus(behind: path))?.kind == .folder ? W_OK | X_OK : R_OK | W_OK
            case .execute: X_OK
            }
        guard unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0 else { return nil }
        return SystemError(call: "access \(path)", number: errno)
    }

    /// The first folder on the way to `path` through which this user may not go.
    package static func closedFolder(above path: String) -> String? {
        var folder = parent(of: path)
        var closed: String?
        while true {
            if (try? FileStatus(behind: folder)) == nil || !isAllowed(.execute, at: folder) { closed = folder }
            guard folder != "/", folder != "." else { return closed }
            folder = parent(of: folder)
        }
    }

    /// Whether nobody may write at `path`, whatever its permissions say: its file system is mounted so.
    package static func isReadOnly(at path: String) -> Bool {
        var status = statvfs()
        return unsafe statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
    }

    /// Makes sure that whatever lies at `path` is a file that this user may write into; there may be none.
    package static func requireOwnFile(
        at path: String, for user: UInt32 = geteuid()
    ) throws(SystemError) {
        guard let doubt = try FileStatus(at: path)?.doubt(writtenBy: user) else { return }
        throw SystemError(refusing: path, because: "\(path) \(doubt)")
    }

    /// Whether two paths lead to one and the same file that exists.
    package static func isSameFile(_ one: String, _ other: String) -> Bool {
        var first = stat()
        var second = stat()
        guard unsafe stat(one, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// The size of a file in bytes; 0 when there is none.
    package static func fileSize(at path: String) throws(SystemError) -> Int64 {
        guard let status = try entry(at: path), status.kind == .file else { return 0 }
        return status.bytes
    }

    /// How much may still be written to the file system of `path`, without what is kept for root; `nil` when it does
    /// not say.
    package static func freeBytes(at path: String) -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        return Int64(exactly: Double(status.f_bavail) * Double(status.f_frsize))
    }

    /// How many more files the file system of `path` can hold; `nil` when it does not say, as those that count none.
    package static func freeFiles(at path: String) -> Int64? {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0, status.f_files > 0 else { return nil }
        return Int64(exactly: Double(status.f_favail))
    }

    /// Makes an empty folder in `folder`, which takes no less than a file, and removes it. Gives the reason if that
    /// fails.
    package static func obstacleToWriting(in folder: String) -> SystemError? {
        let path = "\(folder)/waypost-check-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
        guard unsafe mkdir(path, 0o700) == 0 else { return SystemError(call: "write in \(folder)", number: errno) }
        unsafe rmdir(path)
        return nil
    }

    /// On what a file system keeps its files.
    package enum Volume: Sendable {
        /// Gone after a restart of the machine (tmpfs, ramfs).
        case memory
        /// What the kernel shows of itself (proc, sysfs, cgroup, devpts): nobody makes a file there.
        case kernel
        /// A disk, or what is not known.
        case other
    }

    /// What `path`, which is there, lies on.
    package static func volume(of path: String) -> Volume {
        switch unsafe clinux_file_system(path) {
        case 0x0102_1994, 0x8584_58F6: .memory
        case 0x9FA0, 0x6265_6572, 0x0027_E0EB, 0x6367_7270, 0x1CD1: .kernel
        default: .other
        }
    }

    /// Creates a folder for this user alone, and those above it that are missing; it is in trusted hands then.
    package static func createFolder(at path: String) throws(SystemError) {
        try FolderTrust.require(path, missing: .made)
    }

    /// A path for temporary files at which nothing is yet: in the folder of `TMPDIR`, where there is one.
    package static func temporaryPath(_ name: String) -> String {
        let folder = ProcessEnvironment.variables["TMPDIR"].flatMap(resolved) ?? "/tmp"
        return "\(folder)/\(name)-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    }

    /// Removes a temporary folder with all that is in it, as far as possible; what fails does not matter.
    package static func removeFolder(at path: String) {
        for name in visibleNames(inFolder: path) where unsafe unlink("\(path)/\(name)") != 0 {
            removeFolder(at: "\(path)/\(name)")
        }
        unsafe rmdir(path)
    }

    /// The folder that holds `path`: `/` for `/file`, `.` for `file`.
    package static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last part of `path`: `file` for `/folder/file`.
    package static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// At most `count` bytes of a file from `offset` on; fewer where it ends.
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

    /// Where the next byte lies that was ever written, from `offset` on: behind the hole of a file that is there.
    /// `nil` when there is none, `offset` on file systems that do not say.
    package static func nextWritten(from offset: Int64, of path: String) throws(SystemError) -> Int64? {
        let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        let next = lseek(descriptor.raw, off_t(offset), seekData)
        if next >= 0 { return Int64(next) }
        return errno == ENXIO ? nil : offset
    }

    /// SEEK_DATA on Linux, which Glibc's module does not show.
    private static let seekData: CInt = 3

    /// Where a symbolic link points; `nil` when it is no link, or may not be read.
    package static func linkTarget(at path: String) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        return count < 0 ? nil : String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Where a path leads, every link followed; `nil` when it leads nowhere.
    package static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// Where a path leads, whether or not something is there: then below where its folder leads.
    package static func destination(of path: String) -> String {
        if let real = resolved(path) { return real }
        let folder = parent(of: path)
        guard folder != path, folder != "." else { return path }
        let real = destination(of: folder)
        return (real == "/" ? "" : real) + "/" + name(of: path)
    }

    /// The names in a folder, in no order.
    package static func names(inFolder path: String) throws(SystemError) -> [String] {
        guard let folder = unsafe opendir(path) else { throw SystemError(call: "open \(path)", number: errno) }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The same of a folder that may be gone, or may not be read: then there are none.
    static func visibleNames(inFolder path: String) -> [String] {
        (try? names(inFolder: path)) ?? []
    }

    /// Renames within a file system; an existing file at `destination` is replaced.
    package static func rename(_ source: String, to destination: String) throws(SystemError) {
        try valueOrSystemError("rename \(source) to \(destination)") { unsafe Glibc.rename(source, destination) }
    }

    /// Removes a file, from a folder in trusted hands; that there is none is not an error.
    ///
    /// In a sticky folder each user's files are his own, for root as well, to whom the kernel allows everything.
    package static func removeFile(
        at path: String, in sharing: FolderTrust.Sharing = .sticky
    ) throws(SystemError) {
        guard try FolderTrust.require(parent(of: path), sharing, missing: .allowed) else { return }
        if let status = try FileStatus(at: path), status.owner != geteuid(), isSticky(parent(of: path)) {
            throw SystemError(
                refusing: path,
                because:
                    "\(path) belongs to \(FileStatus.words(status.owner)) and is not removed; let its owner do that, or "
                    + "choose another path")
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw SystemError(call: "remove \(path)", number: errno)
        }
    }

    private static func isSticky(_ folder: String) -> Bool {
        (try? FileStatus(behind: folder))?.isSticky == true
    }

    /// Puts the contents of a file on the disk.
    package static func synchronizeFile(at path: String) throws(SystemError) {
        let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        try valueOrSystemError("sync \(path)") { fsync(descriptor.raw) }
    }

    /// Puts the names in a folder on the disk, so that a rename survives a power cut.
    package static func synchronizeFolder(at path: String) throws(SystemError) {
        let descriptor = try OwnedDescriptor(opening: path, O_RDONLY | O_DIRECTORY)
        try valueOrSystemError("sync \(path)") { fsync(descriptor.raw) }
    }

    /// Creates an empty file for this user alone in place of whatever file is there.
    package static func createFile(at path: String) throws(SystemError) {
        try removeFile(at: path)
        _ = try OwnedDescriptor(writing: path, O_WRONLY | O_CREAT | O_EXCL)
    }

    /// Makes a file of `bytes` whose blocks are really allocated; does nothing when it is there already. What is no
    /// file of this user's own gives way, but for a folder, and what is others' in a sticky one.
    ///
    /// - Throws: `ENOSPC` when the device has no room for it; then no file is left behind.
    package static func reserve(_ bytes: Int64, at path: String) throws(SystemError) {
        if let status = try FileStatus(at: path) {
            if status.isOwnFile, status.bytes == bytes { return }
            if status.kind == .folder {
                throw SystemError(refusing: path, because: "\(path) is a folder, not a file; move it away")
            }
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
