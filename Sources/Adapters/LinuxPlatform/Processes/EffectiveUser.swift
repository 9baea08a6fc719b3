import CLinux
import Glibc

/// As whom this process acts.
package enum EffectiveUser {
    package static var current: UInt32 { geteuid() }

    /// Whose a file is going to be: whoever owns its folder, or this user where there is none, or where each makes his
    /// own as in `/tmp`.
    package static func expected(at path: String) -> UInt32 {
        guard let folder = folder(of: path), !folder.isSticky else { return geteuid() }
        return folder.owner
    }

    /// Lets a root's process act as the owner of a file's folder from now on: what he cannot do, it cannot do either,
    /// wherever his links lead, and what it makes is his. Does nothing for anybody else.
    package static func becomeOwner(ofFolderOf path: String) throws(SystemError) {
        guard geteuid() == 0, let folder = folder(of: path), folder.owner != 0 else { return }
        try valueOrSystemError("leave root's groups") { setgroups(0, nil) }
        try valueOrSystemError("take the group \(folder.group)") { setegid(folder.group) }
        try valueOrSystemError("act as \(FileStatus.words(folder.owner))") { seteuid(folder.owner) }
    }

    private static func folder(of path: String) -> FileStatus? {
        guard let folder = FileSystem.resolved(FileSystem.parent(of: FileSystem.resolved(path) ?? path)) else {
            return nil
        }
        return (try? FileStatus(at: folder)) ?? nil
    }
}
