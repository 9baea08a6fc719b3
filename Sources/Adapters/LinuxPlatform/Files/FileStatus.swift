import CLinux
import Glibc
package import Reporting

/// The status of a file, directory, symbolic link, socket, FIFO or device.
package struct FileStatus: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case file = "a file"
        case directory = "a directory"
        case link = "a symbolic link"
        case socket = "a socket"
        case fifo = "a FIFO"
        case device = "a device"
    }

    /// The identity of a file: the numbers of its file system and inode, and for a device also the device number.
    package struct Identity: Sendable, Hashable {
        private let volume, number, device: UInt64

        package init(volume: UInt64, number: UInt64, device: UInt64 = 0) {
            self.volume = volume
            self.number = number
            self.device = device
        }
    }

    package private(set) var kind: Kind
    /// The uid of the owner.
    package private(set) var owner: UInt32
    package private(set) var group: UInt32 = 0
    /// The permission bits in the form that chmod(1) accepts, including the sticky bit.
    package private(set) var permissions: UInt32 = 0o600
    /// The number of hard links.
    package private(set) var linkCount = 1
    package private(set) var bytes: Int64 = 0
    /// The time of the last change to the file's contents or status (ctime), in seconds since 1970.
    package private(set) var changedAt = 0.0
    /// The identity; `nil` only for values that tests create.
    package private(set) var identity: Identity?
}

extension FileStatus {
    /// Reads the status of the file at `path`, without following a symbolic link. Returns `nil` if nothing exists
    /// there.
    package init?(at path: String) throws(SystemError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            let number = errno
            if number == ENOENT || number == ENOTDIR { return nil }
            throw SystemError(call: "stat \(path)", number: number)
        }
        self.init(status)
    }

    /// Reads the status of the file at `path`, following symbolic links.
    ///
    /// - Throws: also `ENOENT` for a missing file, for which `init(at:)` returns `nil`.
    package init(followingLinksAt path: String) throws(SystemError) {
        var status = stat()
        try valueOrSystemError("open \(path)") { unsafe stat(path, &status) }
        self.init(status)
    }

    package init(of descriptor: borrowing OwnedDescriptor) throws(SystemError) {
        var status = stat()
        try valueOrSystemError("fstat") { unsafe fstat(descriptor.raw, &status) }
        self.init(status)
    }

    /// Reads the status of the file that is open under descriptor `number`. Returns `nil` if the descriptor isn't open.
    init?(ofRaw number: CInt) {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        let kind: Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            case S_IFSOCK: .socket
            case S_IFIFO: .fifo
            default: .device
            }
        self.init(
            kind: kind, owner: status.st_uid, group: status.st_gid, permissions: status.st_mode & 0o7777,
            linkCount: Int(status.st_nlink), bytes: Int64(status.st_size),
            changedAt: Double(status.st_ctim.tv_sec) + Double(status.st_ctim.tv_nsec) / 1e9,
            identity: Identity(
                volume: UInt64(status.st_dev), number: UInt64(status.st_ino), device: UInt64(status.st_rdev)))
    }

    /// Whether this is a sticky directory, such as `/tmp`, in which users can't rename or remove each other's files.
    package var isSticky: Bool { permissions & 0o1000 != 0 }

    package var ownerName: String { Self.name(ofUser: owner) }

    /// Returns whether a user other than the owner may write. With `trustingOwnGroup`, a group with the owner's number
    /// is assumed to have no other members, because useradd creates such a group per user.
    func isWritableByOthers(trustingOwnGroup: Bool) -> Bool {
        let shared = permissions & 0o022
        return shared != 0 && !(shared == 0o020 && trustingOwnGroup && group == owner)
    }

    /// The group that may write; `nil` if every user may.
    var writingGroup: UInt32? { permissions & 0o002 != 0 ? nil : group }

    /// Returns the reason why `user` must not write to this file. Returns `nil` if it is the user's own regular file
    /// and has only one hard link.
    package func writeRefusal(for user: UInt32) -> PathRefusal.Reason? {
        if kind != .file { return .notFile(kind: kind.rawValue, isDevice: kind == .device) }
        if owner != user { return .foreignFile(owner: ownerName, user: Self.name(ofUser: user)) }
        // A program that uses the file under its other name may not expect it to change. Files stored next to it under
        // one name, such as SQLite's log, aren't found under the other.
        return linkCount > 1 ? .hardLinks(count: linkCount) : nil
    }

    /// Whether this process's user can write to the file without affecting a file of another user.
    package var isOwnFile: Bool { writeRefusal(for: geteuid()) == nil }

    /// Returns a name for `user` for use in messages.
    package static func name(ofUser user: UInt32) -> String {
        if user == unmappedUser, isInUserNamespace {
            return "uid \(user) (a user that this user namespace lacks: map it, or change the owner from outside)"
        }
        return user == 0 ? "root" : "uid \(user)"
    }

    /// The uid that the kernel shows for an owner who isn't mapped into the user namespace.
    private static let unmappedUser: UInt32 = 65534

    /// Whether this process is in a user namespace into which not all users are mapped.
    private static let isInUserNamespace: Bool = {
        guard let map = try? FileSystem.read(200, at: 0, of: "/proc/self/uid_map") else { return false }
        return !map.prefix { $0 != UInt8(ascii: "\n") }.reversed().starts(with: " 4294967295".utf8.reversed())
    }()
}
