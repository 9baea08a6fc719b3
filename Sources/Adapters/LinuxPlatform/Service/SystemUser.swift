import Glibc

/// A user of this machine with his groups, and what modes let him do.
package struct SystemUser: Sendable, Hashable {
    package let name: String
    /// The uid.
    package let id: UInt32
    /// The gids, that of what he makes among them.
    package let groups: Set<UInt32>
    /// The first of his groups, by name.
    package let groupName: String
}

extension SystemUser {
    /// The user of that name, with `group` in place of his own and `others` beside it; `nil` when there is none.
    ///
    /// Groups that are not there do not count. May ask the network; not for the shared pool.
    package init?(named name: String, group: String? = nil, others: [String] = []) {
        guard let user = Self.user(name) else { return nil }
        let first = group.flatMap(Self.group) ?? user.group
        var count = CInt(256)
        var members = [gid_t](repeating: 0, count: Int(count))
        let isComplete = unsafe getgrouplist(name, first, &members, &count) >= 0
        let listed = isComplete ? Array(members.prefix(Int(count))) : members
        self.init(
            name: name, id: user.id, groups: Set(listed + [first] + others.compactMap(Self.group)),
            groupName: group ?? Self.name(ofGroup: first) ?? name)
    }

    /// Whether modes let him do it; `write` is also to make files in a folder.
    package func isAllowed(_ use: FileSystem.Use, to status: FileStatus) -> Bool {
        guard id != 0 else { return true }
        let bits: UInt32 =
            switch use {
            case .read: 0o4
            case .write: status.kind == .folder ? 0o3 : 0o6
            case .execute: 0o1
            }
        let shift: UInt32 = status.owner == id ? 6 : groups.contains(status.group) ? 3 : 0
        return status.permissions >> shift & bits == bits
    }

    private static func user(_ name: String) -> (id: UInt32, group: UInt32)? {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        return unsafe found == nil ? nil : (entry.pw_uid, entry.pw_gid)
    }

    private static func group(_ name: String) -> UInt32? {
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &found)
        return unsafe found == nil ? nil : entry.gr_gid
    }

    private static func name(ofGroup id: UInt32) -> String? {
        var entry = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        unsafe getgrgid_r(id, &entry, &buffer, buffer.count, &found)
        guard unsafe found != nil, let name = unsafe entry.gr_name else { return nil }
        return unsafe String(cString: name)
    }
}
