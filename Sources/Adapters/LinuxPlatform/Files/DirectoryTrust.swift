import CLinux
import Glibc

/// Checks that only this user and root can change where a path leads.
///
/// A user who can write in a directory can replace a file or a subdirectory in it with a link. Then a write, rename or
/// removal by this process would hit another user's file. So each directory from the root on is checked, as OpenSSH
/// does for the files that it trusts. Then a path means the same thing at every later call.
///
/// These checks hold only for directories that exist. A free name in a directory such as `/tmp` can become another
/// user's link at any time, so no path with a missing directory is used.
package enum DirectoryTrust {
    /// The rights of other users in the directory itself. In its ancestors other users have no rights, unless the
    /// ancestor is sticky.
    package enum Sharing: Sendable, Hashable {
        /// No rights: the names of files suffice to recognise them as this user's.
        case none
        /// Each user can create files but change only their own, as in `/tmp`.
        case sticky
        /// All rights: files are created under new names and renamed.
        case any
    }

    /// The action if a directory of the path is missing.
    package enum Missing: Sendable, Hashable {
        /// Throw `ENOENT`.
        case rejected
        /// Create the directory, for this user only. It is checked like any other before the next one is created in it.
        case created
        /// Accept that: the caller does nothing with the path, or creates it later.
        case allowed
    }

    private static let maximumLinks = 40  // as in the kernel

    /// Checks that the directory `path` and every link in it are trusted. Returns whether the directory exists; if not,
    /// nothing is known about the path.
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
                try make(next, in: place)
                found = try FileStatus(at: next)
            }
            guard let status = found, status.kind == .directory || status.kind == .link else {
                if missing == .allowed { return false }
                throw SystemError(call: "open directory \(next)", number: found == nil ? ENOENT : ENOTDIR)
            }
            if status.kind == .link {
                links += 1
                try require(trustedLink: next, status, user)
                guard links <= maximumLinks, let target = FileSystem.linkTarget(at: next) else {
                    throw SystemError(call: "follow \(next)", number: ELOOP)
                }
                if target.hasPrefix("/") { place = "" }
                rest += split(target)
                continue
            }
            if !rest.isEmpty { try require(at: next, status, nil, user) }
            place = next
        }
        let directory = place.isEmpty ? "/" : place
        guard let status = try FileStatus(at: directory) else {
            throw SystemError(call: "open directory \(directory)", number: ENOENT)
        }
        try require(at: directory, status, sharing, user)
        return true
    }

    /// Creates a directory in one that has been checked. Another process may have created it first.
    private static func make(_ directory: String, in place: String) throws(SystemError) {
        guard unsafe mkdir(directory, 0o700) == 0 || errno == EEXIST else {
            throw SystemError(call: "create directory \(directory)", number: errno)
        }
        try FileSystem.synchronizeDirectory(at: place.isEmpty ? "/" : place)
    }

    /// Resolves trusted links in the last component of a file's path, in trusted directories. The file need not exist.
    package static func destination(
        of path: String, _ sharing: Sharing = .sticky, missing: Missing = .rejected, for user: UInt32 = geteuid()
    ) throws(SystemError) -> String {
        var path = path
        for _ in 0...maximumLinks {
            let directory = FileSystem.parent(of: path)
            guard try require(directory, sharing, missing: missing, for: user), let status = try FileStatus(at: path),
                status.kind == .link
            else { return path }
            try require(trustedLink: path, status, user)
            guard let target = FileSystem.linkTarget(at: path) else { break }
            path = target.hasPrefix("/") ? target : "\(directory == "/" ? "" : directory)/\(target)"
        }
        throw SystemError(call: "follow \(path)", number: ELOOP)
    }

    /// Returns the reason why `user` doesn't trust a directory, as a predicate for its path; `nil` if it is trusted.
    ///
    /// `sharing` is the rights that other users may have in it; `nil` for an ancestor of the directory that is used.
    package static func doubt(_ directory: FileStatus, _ sharing: Sharing?, for user: UInt32) -> SystemError.Refusal? {
        let danger = "could replace a file with a link"
        guard directory.owner == 0 || directory.owner == user else {
            return SystemError.Refusal(
                "belongs to \(FileStatus.name(ofUser: directory.owner)), who \(danger)",
                "choose a directory that belongs to \(FileStatus.name(ofUser: user)), or run this as its owner")
        }
        // Only its owner can replace the directory if its parent is sticky.
        if sharing == .any { return nil }
        // Other users can create files in a sticky directory, and can change only their own.
        if directory.isSticky, sharing != Sharing.none { return nil }
        let shared = directory.permissions & 0o022
        // In an ancestor, a group with the owner's own number has the owner as its only member (useradd creates one per
        // user).
        if shared == 0 || (shared == 0o020 && sharing == nil && directory.group == directory.owner) { return nil }
        let others = shared & 0o002 != 0 ? "every user" : "members of gid \(directory.group)"
        // Kubernetes restores the mode of such a volume at each start, but leaves the sticky bit alone.
        let isVolume = directory.permissions & 0o2022 == 0o2020 && sharing != Sharing.none
        let advice =
            directory.isSticky
            ? "choose a directory in it"
            : isVolume ? "run chmod +t on it (usual for a Kubernetes volume with fsGroup)" : "run chmod go-w on it"
        return SystemError.Refusal(
            "may be written by \(others), who \(danger)", "\(advice), or choose another directory")
    }

    /// Returns the other users who can change the file at `path`, with the remedy, as a predicate for the path; `nil`
    /// if none can, or if there is no such file.
    package static func exposure(of path: String, for user: UInt32) -> String? {
        do throws(SystemError) {
            let target = try destination(of: path, missing: .allowed, for: user)
            guard let status = try FileStatus(at: target), status.kind == .file else { return nil }
            guard status.owner == 0 || status.owner == user else {
                return "belongs to \(FileStatus.name(ofUser: status.owner)), who can change it; run chown root on it"
            }
            let shared = status.permissions & 0o022
            // A group with the owner's own number has the owner as its only member (useradd creates one for each user).
            if shared == 0 || shared == 0o020 && status.group == status.owner { return nil }
            let others = shared & 0o002 != 0 ? "every user" : "the members of gid \(status.group)"
            return "can be changed by \(others); run chmod go-w on it"
        } catch { return error.refusal.map { "can be replaced: \($0.sentence)" } }
    }

    private static func require(
        at path: String, _ status: FileStatus, _ sharing: Sharing?, _ user: UInt32
    ) throws(SystemError) {
        guard let doubt = doubt(status, sharing, for: user) else { return }
        throw SystemError(refusing: path, because: doubt.withSubject("the directory \(path)"))
    }

    private static func require(
        trustedLink path: String, _ status: FileStatus, _ user: UInt32
    ) throws(SystemError) {
        guard status.owner != 0, status.owner != user else { return }
        throw SystemError(
            refusing: path,
            because: .init(
                "\(path) is a link that belongs to \(FileStatus.name(ofUser: status.owner)) and is not followed",
                "remove it, or choose another path"))
    }

    /// Returns the components of the absolute path, last one first.
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
