import CLinux
import Glibc

/// A file descriptor with one owner, which closes it exactly once.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number for `poll` and for calls without a wrapper. Valid while the owner lives.
    package let raw: CInt

    package init(owning raw: CInt) { self.raw = raw }

    /// Opens `path` with close-on-exec.
    package init(opening path: String, _ flags: CInt, mode: UInt32 = 0o600) throws(SystemError) {
        raw = try valueOrSystemError("open \(path)") { unsafe clinux_open_create(path, flags | O_CLOEXEC, mode) }
    }

    deinit { close(raw) }

    /// Returns the descriptor without closing it.
    package consuming func release() -> CInt {
        let raw = raw
        discard self
        return raw
    }

    /// Reads once. Returns zero at the end of input.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> Int {
        try unsafe buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
            try valueOrSystemError("read") { unsafe Glibc.read(raw, bytes.baseAddress, bytes.count) }
        }
    }

    /// Reads to the end of input. If that is more than `limit` bytes, returns an unspecified part longer than `limit`.
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

    /// Writes all bytes, with several calls if needed.
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
    /// Opens this user's own file for writing. All files are opened for writing this way.
    ///
    /// Doesn't follow a link in the last component, and follows links in the others only if this user and root alone
    /// can change the path. An existing file must belong to this user and have one name. Opening doesn't change the
    /// file: truncate it afterwards if it should be empty. `flags` are those of open(2); a new file is readable by its
    /// owner only unless `mode` says otherwise.
    ///
    /// - Throws: a refusal if the path or file isn't acceptable; nothing has been touched then.
    package init(
        writing path: String, _ flags: CInt, mode: UInt32 = 0o600, in sharing: DirectoryTrust.Sharing = .sticky
    ) throws(SystemError) {
        precondition(flags & O_TRUNC == 0, "a file is checked before it is truncated")
        try DirectoryTrust.require(FileSystem.parent(of: path), sharing)
        // Check before opening too: opening a device may have effects.
        try FileSystem.requireOwnFile(at: path)
        let opened = try OwnedDescriptor(
            opening: path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: mode)
        if let doubt = try FileStatus(of: opened).doubt(writtenBy: geteuid()) {
            throw SystemError(refusing: path, because: doubt.withSubject(path))
        }
        self = opened
    }

    /// Opens a file to lock it, without following a link. Locking changes nothing, so the owner and the links are only
    /// checked when the file is written.
    init(locking path: String) throws(SystemError) {
        try self.init(opening: path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    }

    /// Opens an output that a user named: appends to a file, and writes to a device or pipe.
    package init(appendingTo path: String) throws(SystemError) {
        let entry = try FileSystem.entry(at: path)
        let isDevice = entry.map { $0.kind != .file && $0.kind != .directory } ?? false
        if let entry, isDevice || entry.kind == .file && Self.isHandedOver(entry) {
            try self.init(device: path)
        } else {
            try self.init(writing: path, O_WRONLY | O_CREAT | O_APPEND)
        }
    }

    /// Opens a device or pipe for writing, such as `/dev/stdout`. It must belong to this user or root, or must have
    /// been passed to this process as standard output or error.
    init(device path: String) throws(SystemError) {
        let end: String?
        do throws(SystemError) { end = try DirectoryTrust.destination(of: path, .sticky) } catch {
            guard error.number == ENOENT else { throw error }
            end = nil
        }
        guard let end, let status = try FileStatus(at: end) else {
            // Links in /proc lead to what is open, which may have no path.
            let status = try FileStatus(behind: path)
            guard Self.isOpen(status) else { throw SystemError(call: "open \(path)", number: ENOENT) }
            try self.init(opening: path, found: status)
            return
        }
        if !Self.isHandedOver(status) {
            guard status.owner == 0 || status.owner == geteuid() else {
                let whose = "\(status.kind.rawValue) of \(FileStatus.name(ofUser: status.owner))"
                throw SystemError(refusing: path, because: .init("\(path) is \(whose)", "choose another path"))
            }
            guard status.kind != .file else { throw Self.refusal(of: path) }
        }
        try self.init(opening: end, found: status, O_NOFOLLOW)
    }

    /// Opens the file or device with the checked `status` for writing. Rejects anything that has replaced it since.
    init(opening path: String, found status: FileStatus, _ flags: CInt = 0) throws(SystemError) {
        let opened = try OwnedDescriptor(opening: path, O_WRONLY | O_APPEND | O_NOCTTY | flags)
        guard try FileStatus(of: opened).identity == status.identity else { throw Self.refusal(of: path) }
        self = opened
    }

    private static func refusal(of path: String) -> SystemError {
        SystemError(
            refusing: path, because: .init("\(path) has just been replaced", "choose another path"))
    }

    /// Whether this process was started with that file as its standard output or error.
    package static func isHandedOver(_ status: FileStatus) -> Bool {
        ["/dev/stdout", "/dev/stderr"].contains { (try? FileStatus(behind: $0))?.identity == status.identity }
    }

    /// Whether this process has that file open.
    private static func isOpen(_ status: FileStatus) -> Bool {
        FileSystem.visibleNames(inDirectory: "/proc/self/fd")
            .contains { (try? FileStatus(behind: "/proc/self/fd/\($0)"))?.identity == status.identity }
    }
}

/// The limit on open files and sockets of this process.
package enum DescriptorLimit {
    /// Raises the limit to `count`, or as far as the hard limit allows. Returns the limit in force.
    package static func raise(to count: Int) -> Int { clinux_raise_descriptor_limit(count) }
}
