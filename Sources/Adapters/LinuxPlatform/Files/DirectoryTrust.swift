import CLinux
package import Conditions
import Glibc
package import Reporting

/// A check that only this user and root can change which file a path leads to.
///
/// A user who can write to a directory can replace any file or subdirectory in it with a symbolic link. A write, rename
/// or removal by this process would then hit another user's file. So every directory from the root down is checked, as
/// OpenSSH does for the files that it trusts. A path that passes leads to the same file at every later call.
///
/// The checks hold only for directories that exist. In a directory such as `/tmp`, any user can create a symbolic link
/// under an unused name at any time. So no path is used while one of its directories is missing.
package enum DirectoryTrust {
    /// The rights that other users may have in the last directory of the path. In the directories above it, they may
    /// have rights only if the directory is sticky.
    package enum Sharing: Sendable, Hashable {
        /// No rights, because files in the directory are recognised as this user's by their names alone.
        case none
        /// The right to create files, and to change only their own, as in `/tmp`.
        case sticky
        /// All rights. This is safe if files are created under new names and then renamed.
        case any
    }

    /// The response to a missing directory in the path.
    package enum Missing: Sendable, Hashable {
        /// Throw `ENOENT`.
        case rejected
        /// Create the directory, for this user only. The new directory is checked like any other before a subdirectory
        /// is created in it.
        case created
        /// Return `false` without an error. The caller then does nothing with the path, or creates the directory later.
        case allowed
    }

    private static let maximumLinks = 40  // the kernel's own limit

    /// Checks that the directory `path`, the directories above it, and the symbolic links that lead there are trusted.
    /// Returns whether the directory exists; `missing` determines what happens if it doesn't.
    @discardableResult
    package static func require(
        _ path: String, _ sharing: Sharing = .sticky, missing: Missing = .rejected, for user: UInt32 = geteuid()
    ) throws(SystemError) -> Bool {
        var rest = try components(of: path)
        var place = ""
        var links = 0
        while let name = rest.popLast() {
            if name == ".." {
                place = place.isEmpty ? "" : parentPrefix(of: place)
                continue
            }
            let next = "\(place)/\(name)"
            var found = try FileStatus(at: next)
            if found == nil, missing == .created {
                try createDirectory(next, in: place)
                found = try FileStatus(at: next)
            }
            guard let status = found, status.kind == .directory || status.kind == .link else {
                if missing == .allowed { return false }
                throw SystemError(call: "open directory \(next)", number: found == nil ? ENOENT : ENOTDIR)
            }
            if status.kind == .link {
                links += 1
                try requireTrusted(link: next, status: status, for: user)
                guard links <= maximumLinks, let target = FileSystem.linkTarget(at: next) else {
                    throw SystemError(call: "follow \(next)", number: ELOOP)
                }
                if target.hasPrefix("/") { place = "" }
                rest += split(target)
                continue
            }
            if !rest.isEmpty { try requireTrusted(directory: next, status: status, sharing: nil, for: user) }
            place = next
        }
        let directory = place.isEmpty ? "/" : place
        guard let status = try FileStatus(at: directory) else {
            throw SystemError(call: "open directory \(directory)", number: ENOENT)
        }
        try requireTrusted(directory: directory, status: status, sharing: sharing, for: user)
        return true
    }

    /// Creates a directory in a directory that has already been checked. Accepts a directory that another process has
    /// just created.
    private static func createDirectory(_ directory: String, in place: String) throws(SystemError) {
        guard unsafe mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw SystemError(call: "create directory \(directory)", number: errno)
        }
        try FileSystem.synchronizeDirectory(at: place.isEmpty ? "/" : place)
    }

    /// Returns the path to which the symbolic links in the last component of `path` lead. Checks that those links and
    /// all directories are trusted. The file itself may be missing.
    package static func destination(
        of path: String, _ sharing: Sharing = .sticky, missing: Missing = .rejected, for user: UInt32 = geteuid()
    ) throws(SystemError) -> String {
        var path = path
        for _ in 0...maximumLinks {
            let directory = FileSystem.parent(of: path)
            guard try require(directory, sharing, missing: missing, for: user), let status = try FileStatus(at: path),
                status.kind == .link
            else { return path }
            try requireTrusted(link: path, status: status, for: user)
            guard let target = FileSystem.linkTarget(at: path) else { break }
            path = target.hasPrefix("/") ? target : "\(directory == "/" ? "" : directory)/\(target)"
        }
        throw SystemError(call: "follow \(path)", number: ELOOP)
    }

    /// Returns the reason why `user` doesn't trust a directory, or `nil` if `user` trusts it.
    ///
    /// `sharing` says which rights other users may have in the directory; `nil` if the directory is only an ancestor of
    /// the directory in use.
    package static func refusal(of directory: FileStatus, sharing: Sharing?, for user: UInt32) -> PathRefusal.Reason? {
        guard directory.owner == 0 || directory.owner == user else {
            return .foreignDirectory(owner: directory.ownerName, user: FileStatus.name(ofUser: user))
        }
        // Other users can write here, but they can't replace the directory itself if its parent is sticky.
        if sharing == .any { return nil }
        // In a sticky directory, other users can create files but can change only their own.
        if directory.isSticky, sharing != Sharing.none { return nil }
        guard directory.isWritableByOthers(trustingOwnGroup: sharing == nil) else { return nil }
        // Kubernetes makes a volume with `fsGroup` group-writable again at each start, but leaves its sticky bit alone.
        let isVolume = directory.permissions & 0o2022 == 0o2020 && sharing != Sharing.none
        let group = directory.writingGroup
        if directory.isSticky { return .stickyDirectory(group: group) }
        return isVolume ? .sharedVolume(group: group) : .sharedDirectory(group: group)
    }

    /// Returns the way in which other users can change or replace the file at `path`; `nil` if no other user can, or if
    /// there is no such file.
    package static func exposure(of path: String, for user: UInt32) -> PathExposure? {
        do throws(SystemError) {
            let target = try destination(of: path, missing: .allowed, for: user)
            guard let status = try FileStatus(at: target), status.kind == .file else { return nil }
            guard status.owner == 0 || status.owner == user else { return .owner(status.ownerName) }
            return status.isWritableByOthers(trustingOwnGroup: true) ? .writable(group: status.writingGroup) : nil
        } catch { return error.refusal.map { .replaceable($0) } }
    }

    private static func requireTrusted(
        directory path: String, status: FileStatus, sharing: Sharing?, for user: UInt32
    ) throws(SystemError) {
        guard let reason = refusal(of: status, sharing: sharing, for: user) else { return }
        throw SystemError(refusing: path, because: reason)
    }

    private static func requireTrusted(
        link path: String, status: FileStatus, for user: UInt32
    ) throws(SystemError) {
        guard status.owner != 0, status.owner != user else { return }
        throw SystemError(refusing: path, because: .foreignLink(owner: status.ownerName))
    }

    /// Returns the components of `path`, made absolute, in reverse order.
    private static func components(of path: String) throws(SystemError) -> [String] {
        guard !path.hasPrefix("/") else { return split(path) }
        guard let directory = unsafe getcwd(nil, 0) else {
            throw SystemError(call: "find the working directory", number: errno)
        }
        defer { unsafe free(directory) }
        return split(path) + split(unsafe String(cString: directory))
    }

    private static func split(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }.reversed()
    }

    /// Returns the parent directory of `path`, or an empty string for the root.
    private static func parentPrefix(of path: String) -> String {
        let parent = FileSystem.parent(of: path)
        return parent == "/" ? "" : parent
    }
}
