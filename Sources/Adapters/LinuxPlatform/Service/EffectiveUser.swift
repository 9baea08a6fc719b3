import CLinux
import Glibc

/// The user whose rights this process currently has.
package enum EffectiveUser {
    package static var current: UInt32 { geteuid() }

    /// Returns the user who should own a new file at `path`: the owner of its directory. Returns this user if the
    /// directory is missing, or is sticky like `/tmp`.
    package static func expectedOwner(ofFileAt path: String) -> UInt32 {
        guard let directory = directory(of: path), !directory.isSticky else { return geteuid() }
        return directory.owner
    }

    /// Makes a root process act as the owner of the directory of `path` from now on. The process then has that user's
    /// rights, and new files belong to that user. Does nothing if the process doesn't run as root.
    package static func becomeOwner(ofDirectoryOf path: String) throws(SystemError) {
        guard geteuid() == 0, let directory = directory(of: path), directory.owner != 0 else { return }
        try valueOrSystemError("leave root's groups") { setgroups(0, nil) }
        try valueOrSystemError("set the group to \(directory.group)") { setegid(directory.group) }
        try valueOrSystemError("act as \(FileStatus.name(ofUser: directory.owner))") { seteuid(directory.owner) }
    }

    /// Runs `body` and returns its result. In a root process, `body` runs as the owner of the directory of `path`.
    /// Every thread acts as that user until `body` returns, so nothing else may run meanwhile.
    package static func asOwner<Value>(
        ofDirectoryOf path: String, _ body: () async -> Value
    ) async throws(SystemError) -> Value {
        let user = geteuid()
        let group = getegid()
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        try valueOrSystemError("read the groups") { unsafe getgroups(CInt(groups.count), &groups) }
        try becomeOwner(ofDirectoryOf: path)
        let value = await body()
        if geteuid() != user {
            try valueOrSystemError("act as \(FileStatus.name(ofUser: user)) again") { seteuid(user) }
            try valueOrSystemError("restore the group \(group)") { setegid(group) }
            try valueOrSystemError("restore the groups") { unsafe setgroups(groups.count, groups) }
        }
        return value
    }

    /// Runs `body` with another user's rights to files, and returns its result. Only the calling thread gets these
    /// rights, and only in a root process.
    ///
    /// - Throws: an error if this process isn't allowed to assume these rights. In that case `body` hasn't been called.
    package static func withFileRights<Value>(
        of user: UInt32, groups: Set<UInt32>, _ body: () -> Value
    ) throws(SystemError) -> Value {
        if user == geteuid() { return body() }
        let ownUser = geteuid()
        let ownGroup = getegid()
        var ownGroups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        try valueOrSystemError("read the groups") { unsafe getgroups(CInt(ownGroups.count), &ownGroups) }
        let others = Array(groups)
        try valueOrSystemError("use the groups of uid \(user)") {
            unsafe clinux_set_thread_groups(CInt(others.count), others)
        }
        defer {
            let hasOwnRights = clinux_set_thread_file_rights(ownUser, ownGroup) != 0
            let hasOwnGroups = unsafe clinux_set_thread_groups(CInt(ownGroups.count), ownGroups) == 0
            precondition(hasOwnRights && hasOwnGroups, "a thread keeps the file rights of another user")
        }
        guard clinux_set_thread_file_rights(user, others.first ?? user) != 0 else {
            throw SystemError(call: "use files as uid \(user)", number: EPERM)
        }
        return body()
    }

    private static func directory(of path: String) -> FileStatus? {
        guard let directory = FileSystem.resolved(FileSystem.parent(of: FileSystem.resolved(path) ?? path)) else {
            return nil
        }
        return try? FileStatus(at: directory)
    }
}
