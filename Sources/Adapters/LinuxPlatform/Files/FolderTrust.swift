import CLinux
import Glibc

/// Whether only this user and root can change where a path leads.
///
/// Whoever may write in a folder can put a link where a file is expected, or another folder in its place: then what is
/// written, renamed or removed is another user's. So each folder from the root on is looked at, as OpenSSH does for
/// the files it trusts. Then a path means the same thing at every later call.
///
/// That is true of what is there. A name that is free in a folder such as `/tmp` can be another user's link a moment
/// later, so that nothing is done by a path on which a folder was missing.
package enum FolderTrust {
    /// What others may do in the folder itself; in those above it they may do nothing but in a sticky one.
    package enum Sharing: Sendable, Hashable {
        /// Nothing: whatever has a certain name in it is taken for one's own.
        case none
        /// Make names of their own, as in `/tmp`, where they cannot touch those of others.
        case sticky
        /// Anything: what is made in it has a new name, and is renamed.
        case any
    }

    /// What happens when a folder of the path is missing.
    package enum Missing: Sendable, Hashable {
        /// It is an error, `ENOENT`.
        case refused
        /// It is made for this user alone, and looked at like any other before the next one is made in it.
        case made
        /// It may be missing: whoever asks does nothing with the path, or has it made later.
        case allowed
    }

    private static let longestChain = 40  // of links, as the kernel has it

    /// Makes sure that `path`, a folder, is in trusted hands, through every link on the way.
    ///
    /// - Returns: whether it is there; if not, nothing is known of the path.
    @discardableResult
    package static func require(
        _ path: String, _ sharing: Sharing = .sticky, missing: Missing = .refused, for user: UInt32 = geteuid()
    ) throws(SystemError) -> Bool {
        var rest = try components(of: path)
        var place = ""
        var links = 0
        while let name = rest.popLast() {
            if name == ".." {
                place = place.isEmpty ? "" : parent(place)
                continue
            }
            let next = "\(place)/\(name)"
            var found = try FileStatus(at: next)
            if found == nil, missing == .made {
                try make(next, in: place)
                found = try FileStatus(at: next)
            }
            guard let status = found, status.kind == .folder || status.kind == .link else {
                if missing == .allowed { return false }
                throw SystemError(call: "open folder \(next)", number: found == nil ? ENOENT : ENOTDIR)
            }
            if status.kind == .link {
                links += 1
                try require(trustedLink: next, status, user)
                guard links <= longestChain, let target = FileSystem.linkTarget(at: next) else {
                    throw SystemError(call: "follow \(next)", number: ELOOP)
                }
                if target.hasPrefix("/") { place = "" }
                rest += split(target)
                continue
            }
            if !rest.isEmpty { try require(at: next, status, nil, user) }
            place = next
        }
        let folder = place.isEmpty ? "/" : place
        guard let status = try FileStatus(at: folder) else {
            throw SystemError(call: "open folder \(folder)", number: ENOENT)
        }
        try require(at: folder, status, sharing, user)
        return true
    }

    /// Makes a folder in one that has been looked at; another process may have been faster.
    private static func make(_ folder: String, in place: String) throws(SystemError) {
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw SystemError(call: "create folder \(folder)", number: errno)
        }
        try FileSystem.synchronizeFolder(at: place.isEmpty ? "/" : place)
    }

    /// Where a file's path leads when links in its last component are followed, those that are to be trusted; in
    /// folders that are.
    ///
    /// Nothing may be there.
    package static func destination(
        of path: String, _ sharing: Sharing = .sticky, missing: Missing = .refused, for user: UInt32 = geteuid()
    ) throws(SystemError) -> String {
        var path = path
        for _ in 0...longestChain {
            let folder = FileSystem.parent(of: path)
            guard try require(folder, sharing, missing: missing, for: user), let status = try FileStatus(at: path),
                status.kind == .link
            else { return path }
            try require(trustedLink: path, status, user)
            guard let target = FileSystem.linkTarget(at: path) else { break }
            path = target.hasPrefix("/") ? target : "\(folder == "/" ? "" : folder)/\(target)"
        }
        throw SystemError(call: "follow \(path)", number: ELOOP)
    }

    /// Why `user` does not trust a folder; `nil` when he does. What goes before it is the path.
    ///
    /// `sharing`: what others may do in it; `nil` for one on the way.
    package static func doubt(_ folder: FileStatus, _ sharing: Sharing?, for user: UInt32) -> String? {
        let remedy = "could put a link in the place of a file"
        guard folder.owner == 0 || folder.owner == user else {
            return "belongs to \(FileStatus.words(folder.owner)), who \(remedy); choose a folder of "
                + "\(FileStatus.words(user)), or run this as its owner"
        }
        // Its owner alone can put another folder in its place, where the one above is sticky.
        if sharing == .any { return nil }
        // Others can add names to a sticky folder, and change none but their own.
        if folder.isSticky, sharing != Sharing.none { return nil }
        let shared = folder.permissions & 0o022
        // On the way a group with the owner's own number is the owner (useradd makes one for each user).
        if shared == 0 || (shared == 0o020 && sharing == nil && folder.group == folder.owner) { return nil }
        let others = shared & 0o002 != 0 ? "everybody" : "members of gid \(folder.group)"
        // Kubernetes restores the mode of such a volume at each start, and leaves the sticky bit alone.
        let isVolume = folder.permissions & 0o2022 == 0o2020 && sharing != Sharing.none
        let advice =
            folder.isSticky
            ? "choose a folder in it"
            : isVolume ? "run chmod +t on it (a Kubernetes volume with fsGroup is so)" : "run chmod go-w on it"
        return "may be written by \(others), who \(remedy); \(advice), or choose another folder"
    }

    /// Returns who besides `user` and root can change the file at `path`, with the remedy, as a predicate for it; `nil`
    /// if nobody can, or if there is no such file.
    package static func exposure(of path: String, for user: UInt32) -> String? {
        do throws(SystemError) {
            let target = try destination(of: path, missing: .allowed, for: user)
            guard let status = try FileStatus(at: target), status.kind == .file else { return nil }
            guard status.owner == 0 || status.owner == user else {
                return "belongs to \(FileStatus.words(status.owner)), who can change it; run chown root on it"
            }
            let shared = status.permissions & 0o022
            // A group with the owner's own number is the owner (useradd makes one for each user).
            if shared == 0 || shared == 0o020 && status.group == status.owner { return nil }
            let others = shared & 0o002 != 0 ? "every user" : "the members of gid \(status.group)"
            return "can be changed by \(others); run chmod go-w on it"
        } catch { return error.refusal.map { "can be replaced: \($0)" } }
    }

    private static func require(
        at path: String, _ status: FileStatus, _ sharing: Sharing?, _ user: UInt32
    ) throws(SystemError) {
        guard let doubt = doubt(status, sharing, for: user) else { return }
        throw SystemError(refusing: path, because: "the folder \(path) \(doubt)")
    }

    private static func require(
        trustedLink path: String, _ status: FileStatus, _ user: UInt32
    ) throws(SystemError) {
        guard status.owner != 0, status.owner != user else { return }
        throw SystemError(
            refusing: path,
            because: "\(path) is a link of \(FileStatus.words(status.owner)) and is not followed; remove it, or choose "
                + "another path")
    }

    /// The names on the way from the root to `path`, the last one first.
    private static func components(of path: String) throws(SystemError) -> [String] {
        guard !path.hasPrefix("/") else { return split(path) }
        guard let folder = unsafe getcwd(nil, 0) else {
            throw SystemError(call: "find the working folder", number: errno)
        }
        defer { unsafe free(folder) }
        return split(path) + split(unsafe String(cString: folder))
    }

    private static func split(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }.filter { $0 != "." }.reversed()
    }

    private static func parent(_ place: String) -> String {
        let parent = FileSystem.parent(of: place)
        return parent == "/" ? "" : parent
    }
}
