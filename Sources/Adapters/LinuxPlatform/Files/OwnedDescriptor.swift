import CLinux
import Glibc
import Reporting

/// A file descriptor with exactly one owner. It is closed once, when its owner is destroyed.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor's number, for `poll` and for system calls without a wrapper. It is valid only while the owner
    /// exists.
    package let raw: CInt

    package init(owning raw: CInt) { self.raw = raw }

    /// Opens `path`. The descriptor is closed when the process executes another program.
    package init(opening path: String, _ flags: CInt, mode: UInt32 = 0o600) throws(SystemError) {
        raw = try valueOrSystemError("open \(path)") { unsafe clinux_open_create(path, flags | O_CLOEXEC, mode) }
    }

    deinit { close(raw) }

    /// Gives up ownership, and returns the descriptor without closing it.
    package consuming func release() -> CInt {
        let raw = raw
        discard self
        return raw
    }

    /// Reads once into `buffer`. Returns the number of bytes read, which is zero at the end of input.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> Int {
        try unsafe buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
            try valueOrSystemError("read") { unsafe Glibc.read(raw, bytes.baseAddress, bytes.count) }
        }
    }

    /// Reads to the end of input. If there are more than `limit` bytes, stops early and returns more than `limit` of
    /// them, so that the caller notices.
    package func contents(upTo limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: min(limit + 1, 64 * 1024))
        while bytes.count <= limit {
            var span = buffer.mutableSpan
            let count = try read(into: &span)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    /// Writes all of `bytes`, in several system calls if needed.
    package func writeAll(_ bytes: Span<UInt8>) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            done += try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
                try valueOrSystemError("write") {
                    unsafe Glibc.write(raw, buffer.baseAddress?.advanced(by: done), buffer.count - done)
                }
            }
        }
    }
}

extension OwnedDescriptor {
    /// Opens this user's own file for writing. Waypost opens all regular files for writing this way. Doesn't follow a
    /// symbolic link in the last component. Follows symbolic links in the other components only if no user except this
    /// user and root can change the path. An existing file must belong to this user and have only one hard link.
    /// Opening doesn't change the file, so truncate it afterwards if it should be empty. `flags` are those of open(2).
    /// By default only the owner can read a new file; `mode` changes that.
    ///
    /// - Throws: a refusal if the path or the file isn't acceptable. In that case nothing has been changed.
    package init(
        writing path: String, _ flags: CInt, mode: UInt32 = 0o600, in sharing: DirectoryTrust.Sharing = .sticky
    ) throws(SystemError) {
        precondition(flags & O_TRUNC == 0, "a file is checked before it is truncated")
        try DirectoryTrust.require(FileSystem.parent(of: path), sharing)
        // The file is checked before it is opened too, because opening a device may have side effects.
        try FileSystem.requireOwnFile(at: path)
        let opened = try OwnedDescriptor(
            opening: path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: mode)
        if let reason = try FileStatus(of: opened).writeRefusal(for: geteuid()) {
            throw SystemError(refusing: path, because: reason)
        }
        self = opened
    }

    /// Opens a file in order to lock it, without following a symbolic link. The file's owner and hard links are checked
    /// later, when it is opened for writing, because a lock changes nothing.
    init(locking path: String) throws(SystemError) {
        try self.init(opening: path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    }

    /// Opens an output that a user named. A file is appended to; a device or pipe is written to.
    package init(appendingTo path: String) throws(SystemError) {
        let entry = try FileSystem.entry(at: path)
        let isDevice = entry.map { $0.kind != .file && $0.kind != .directory } ?? false
        if let entry, isDevice || entry.kind == .file && Self.isHandedOver(entry) {
            try self.init(device: path)
        } else {
            try self.init(writing: path, O_WRONLY | O_CREAT | O_APPEND)
        }
    }

    /// Opens a device or pipe for writing, such as `/dev/stdout`. It must belong to this user or root, or must be this
    /// process's standard output or standard error.
    init(device path: String) throws(SystemError) {
        let end: String?
        do throws(SystemError) { end = try DirectoryTrust.destination(of: path, .sticky) } catch {
            guard error.number == ENOENT else { throw error }
            end = nil
        }
        guard let end, let status = try FileStatus(at: end) else {
            // A symbolic link in /proc leads to an open file or pipe, which may have no path.
            let status = try FileStatus(followingLinksAt: path)
            guard Self.isOpen(status) else { throw SystemError(call: "open \(path)", number: ENOENT) }
            try self.init(opening: path, found: status)
            return
        }
        if !Self.isHandedOver(status) {
            guard status.owner == 0 || status.owner == geteuid() else {
                throw SystemError(
                    refusing: path,
                    because: .foreignOutput(
                        kind: status.kind.rawValue, owner: status.ownerName))
            }
            guard status.kind != .file else { throw SystemError(refusing: path, because: .justReplaced) }
        }
        try self.init(opening: end, found: status, O_NOFOLLOW)
    }

    /// Opens a file or device for writing. Throws if it is no longer the one whose `status` has been checked.
    init(opening path: String, found status: FileStatus, _ flags: CInt = 0) throws(SystemError) {
        let opened = try OwnedDescriptor(opening: path, O_WRONLY | O_APPEND | O_NOCTTY | flags)
        guard try FileStatus(of: opened).identity == status.identity else {
            throw SystemError(refusing: path, because: .justReplaced)
        }
        self = opened
    }

    /// Whether the file with this `status` is this process's standard output or standard error.
    package static func isHandedOver(_ status: FileStatus) -> Bool {
        ["/dev/stdout", "/dev/stderr"].contains { (try? FileStatus(followingLinksAt: $0))?.identity == status.identity }
    }

    /// Whether this process has the file with this `status` open.
    private static func isOpen(_ status: FileStatus) -> Bool {
        FileSystem.visibleNames(inDirectory: "/proc/self/fd")
            .contains { (try? FileStatus(followingLinksAt: "/proc/self/fd/\($0)"))?.identity == status.identity }
    }
}

/// The limit on the number of files and sockets that this process may have open.
package enum DescriptorLimit {
    /// Raises the limit to `count`, or to the hard limit if that is lower. Returns the limit that now applies.
    package static func raise(to count: Int) -> Int { clinux_raise_descriptor_limit(count) }
}
