import FoundationEssentials
import Glibc
import LinuxPlatform

/// A small file system in memory, mounted for one test. Requires root.
package final class TinyFileSystem {
    /// Whether this user may mount a file system.
    package static var isAllowed: Bool {
        guard geteuid() == 0 else { return false }
        let probe = FileManager.default.temporaryDirectory.appending(path: "waypost-mount-\(UUID().uuidString)").path
        defer { unsafe rmdir(probe) }
        guard unsafe Glibc.mkdir(probe, 0o700) == 0, unsafe mount("tmpfs", probe, "tmpfs", 0, "size=64k") == 0 else {
            return false
        }
        unsafe umount2(probe, CInt(MNT_DETACH))
        return true
    }

    private let path: String

    package init(at path: String, megabytes: Int) throws {
        self.path = path
        try FileSystem.createDirectory(at: path)
        try valueOrSystemError("mount \(path)") { unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(megabytes)m") }
    }

    deinit { unsafe umount2(path, CInt(MNT_DETACH)) }

    /// Fills the free space.
    package func fill() throws {
        let filler = try OwnedDescriptor(opening: path + "/filler", O_WRONLY | O_CREAT | O_APPEND)
        let block = [UInt8](repeating: 1, count: 4096)
        do { while true { try filler.writeAll(block.span) } } catch { if error.number != ENOSPC { throw error } }
    }

    /// Makes the file system read-only or writable. Read-only is impossible while files are open for writing.
    package func setReadOnly(_ isReadOnly: Bool) throws {
        let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
        try valueOrSystemError("remount \(path)") { unsafe mount("tmpfs", path, "tmpfs", flags, nil) }
    }

    /// Frees the space that `fill` has used.
    package func free() throws { try FileSystem.removeFile(at: path + "/filler") }
}
