import CLinux
import Glibc

/// Owns a file descriptor: one owner, closed exactly once.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// For `poll` and for calls that have no wrapper; valid as long as the owner lives.
    package let raw: CInt

    /// Takes ownership of `raw`.
    package init(owning raw: CInt) { self.raw = raw }

    /// Opens `path`, never to be inherited by a child process.
    package init(opening path: String, _ flags: CInt, mode: UInt32 = 0o600) throws(SystemError) {
        raw = try valueOrSystemError("open \(path)") { unsafe clinux_open_create(path, flags | O_CLOEXEC, mode) }
    }

    deinit { close(raw) }

    /// Gives the descriptor away without closing it.
    package consuming func release() -> CInt {
        let raw = raw
        discard self
        return raw
    }

    /// Reads once; zero means end of input.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> Int {
        try unsafe buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
            try valueOrSystemError("read") { unsafe Glibc.read(raw, bytes.baseAddress, bytes.count) }
        }
    }

    /// Reads to the end of input; where that is further than `limit` bytes, a part that is longer than `limit`, too.
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

    /// Writes everything, however often the kernel takes only a part.
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
    /// Opens a file of this user's own for writing: the one way to do it.
    ///
    /// No link is followed in the last component, and in the others only where this user and root alone can change the
    /// path; what is there is a file that belongs to this user under one name. Opening does not change it: truncate it
    /// where it should be empty. `flags` are those of open(2); a new file is for its owner only unless `mode` says
    /// otherwise.
    ///
    /// - Throws: with a refusal when it is not so; nothing has been touched then.
    package init(
        writing path: String, _ flags: CInt, mode: UInt32 = 0o600, in sharing: FolderTrust.Sharing = .sticky
    ) throws(SystemError) {
        precondition(flags & O_TRUNC == 0, "a file is looked at before it is truncated")
        try FolderTrust.require(FileSystem.parent(of: path), sharing)
        // Before it is opened, too: opening a device may do something.
        try FileSystem.requireOwnFile(at: path)
        let opened = try OwnedDescriptor(
            opening: path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: mode)
        if let doubt = try FileStatus(of: opened).doubt(writtenBy: geteuid()) {
            throw SystemError(refusing: path, because: "\(path) \(doubt)")
        }
        self = opened
    }

    /// Opens a file to lock it, which changes nothing of it: who owns it and how many names it has is asked by whoever
    /// writes. A link is not followed.
    init(locking path: String) throws(SystemError) {
        try self.init(opening: path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    }

    /// Opens what a user has named for output: a file is written at its end, a device or pipe as it is.
    package init(appendingTo path: String) throws(SystemError) {
        let entry = try FileSystem.entry(at: path)
        let isDevice = entry.map { $0.kind != .file && $0.kind != .folder } ?? false
        if let entry, isDevice || entry.kind == .file && Self.isHandedOver(entry) {
            try self.init(device: path)
        } else {
            try self.init(writing: path, O_WRONLY | O_CREAT | O_APPEND)
        }
    }

    /// Opens a device or pipe for writing, as `/dev/stdout`: one of this user or root, or one that was handed to this
    /// process, whosoever it is.
    init(device path: String) throws(SystemError) {
        let end: String?
        do throws(SystemError) { end = try FolderTrust.destination(of: path, .sticky) } catch {
            guard error.number == ENOENT else { throw error }
            end = nil
        }
        guard let end, let status = try FileStatus(at: end) else {
            // The links of /proc lead to what is open, not to a path: then nothing is found at their end.
            let status = try FileStatus(behind: path)
            guard Self.isOpen(status) else { throw SystemError(call: "open \(path)", number: ENOENT) }
            try self.init(opening: path, found: status)
            return
        }
        if !Self.isHandedOver(status) {
            guard status.owner == 0 || status.owner == geteuid() else {
                let whose = "\(status.kind.rawValue) of \(FileStatus.words(status.owner))"
                throw SystemError(refusing: path, because: "\(path) is \(whose); choose another path")
            }
            guard status.kind != .file else { throw Self.refusal(of: path) }
        }
        try self.init(opening: end, found: status, O_NOFOLLOW)
    }

    /// Opens for writing what has been looked at, and nothing else that has taken its place since.
    init(opening path: String, found status: FileStatus, _ flags: CInt = 0) throws(SystemError) {
        let opened = try OwnedDescriptor(opening: path, O_WRONLY | O_APPEND | O_NOCTTY | flags)
        guard try FileStatus(of: opened).identity == status.identity else { throw Self.refusal(of: path) }
        self = opened
    }

    private static func refusal(of path: String) -> SystemError {
        SystemError(refusing: path, because: "\(path) is not what it was a moment ago; choose another path")
    }

    /// Whether whoever started this process has opened it for output.
    package static func isHandedOver(_ status: FileStatus) -> Bool {
        ["/dev/stdout", "/dev/stderr"].contains { (try? FileStatus(behind: $0))?.identity == status.identity }
    }

    /// Whether this process has it open, whoever opened it.
    private static func isOpen(_ status: FileStatus) -> Bool {
        FileSystem.visibleNames(inFolder: "/proc/self/fd")
            .contains { (try? FileStatus(behind: "/proc/self/fd/\($0)"))?.identity == status.identity }
    }
}

/// How many files and sockets this process may have open.
package enum DescriptorLimit {
    /// Raises what is allowed to `count`, as far as the system's administrator lets a process; gives what is allowed
    /// then.
    package static func raise(to count: Int) -> Int { clinux_raise_descriptor_limit(count) }
}
