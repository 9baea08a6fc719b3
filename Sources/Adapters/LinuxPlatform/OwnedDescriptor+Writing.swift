import CLinux
import Glibc

extension OwnedDescriptor {
    /// Opens a file of this user's own for writing: the one way to do it.
    ///
    /// No link is followed but on the way, and only where this user and root alone can change the way; what is there is
    /// a file that belongs to this user under one name. It is not changed by being opened: whoever wants it empty
    /// truncates it. `flags` are those of open(2); a new file is for its owner only unless `mode` says otherwise.
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
        if entry == .other || (entry != nil && Self.isHandedOver(path)) {
            try self.init(device: path)
        } else {
            try self.init(writing: path, O_WRONLY | O_CREAT | O_APPEND)
        }
    }

    /// Opens a device or pipe for writing, as `/dev/stdout`: one of this user or root, or one that was handed to this
    /// process, whosoever it is.
    init(device path: String) throws(SystemError) {
        let end = try FolderTrust.destination(of: path, .sticky)
        // The links of /proc lead to what is open, not to a path: then nothing is found at their end.
        if let status = try FileStatus(at: end), status.owner != 0, status.owner != geteuid(),
            !Self.isHandedOver(path)
        {
            throw SystemError(
                refusing: path,
                because: "\(path) is \(status.kind.rawValue) of \(FileStatus.words(status.owner)); choose another path")
        }
        try self.init(opening: path, O_WRONLY | O_APPEND | O_NOCTTY)
    }

    /// Whether whoever started this process has opened it for output.
    private static func isHandedOver(_ path: String) -> Bool {
        ["/dev/stdout", "/dev/stderr"].contains { FileSystem.isSameFile(path, $0) }
    }
}
