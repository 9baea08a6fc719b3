/// The reason why Waypost leaves the file or directory at a path alone. It contains only facts, which `Conditions`
/// turns into text.
package struct PathRefusal: Sendable, Hashable {
    /// The reason. A `kind` is a kind of file with its article, such as `a FIFO`. Owners and users are names, such as
    /// `uid 998`. A `group` may write to a directory; `nil` stands for every user.
    package enum Reason: Sendable, Hashable {
        case notFile(kind: String, isDevice: Bool)
        /// A directory has the path of a file that Waypost creates itself.
        case directory
        /// The file doesn't belong to `user`, who would write to it.
        case foreignFile(owner: String, user: String)
        case hardLinks(count: Int)
        case notReplaced(owner: String)
        case notRemoved(owner: String)
        /// Output would go to a device or pipe of another user.
        case foreignOutput(kind: String, owner: String)
        /// Another file has taken the path since the check.
        case justReplaced
        case foreignLink(owner: String)
        /// The owner of the directory, who isn't `user`, could replace the files in it.
        case foreignDirectory(owner: String, user: String)
        /// Other users could replace the files in the directory.
        case sharedDirectory(group: UInt32?)
        /// Other users could create links in the directory, but can change only their own files; `/tmp` is one.
        case stickyDirectory(group: UInt32?)
        /// The directory is a volume that a group shares, such as a Kubernetes volume with `fsGroup`.
        case sharedVolume(group: UInt32?)
        case notSocket(kind: String)
        case foreignSocket(owner: String)
        case closedOutput
        /// Records of the simulator's `option` would be appended to other contents.
        case notRecord(option: String)
    }

    package let path: String
    package let reason: Reason

    package init(of path: String, because reason: Reason) {
        self.path = path
        self.reason = reason
    }
}
