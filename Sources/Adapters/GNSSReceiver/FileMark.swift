import Glibc
import LinuxPlatform

/// Which file it is, and how long: what two looks at a path are compared by.
struct FileMark: Sendable, Hashable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var kind: Kind

    enum Kind: Sendable, Hashable { case file, folder, pipe, device }

    private init(_ status: stat) {
        (device, inode, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFIFO, S_IFSOCK: .pipe
            default: .device
            }
    }

    init(device: UInt64 = 0, inode: UInt64, size: Int64, kind: Kind = .file) {
        (self.device, self.inode, self.size, self.kind) = (device, inode, size, kind)
    }

    /// What lies at `path`, links followed; `nil` when nothing does, or nothing that may be seen.
    init?(at path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// What an open descriptor leads to.
    init(of raw: CInt) throws(SystemError) {
        var status = stat()
        try valueOrSystemError("look at the open file") { unsafe fstat(raw, &status) }
        self.init(status)
    }

    /// Whether a descriptor leads to a device.
    static func isDevice(_ raw: CInt) -> Bool { (try? FileMark(of: raw))?.kind == .device }

    /// Whether both are the same file, however long.
    func isSameFile(as other: Self) -> Bool { device == other.device && inode == other.inode }
}
