import ReportedText
package import Reporting

/// Messages about files and directories that Waypost doesn't trust.
extension PathRefusal {
    /// The reason, as a sentence about the path, and the remedy.
    package var wording: Wording {
        let other: ReportedText = "choose another path"
        return switch reason {
        case .notFile(let kind, let isDevice):
            Wording("\(path) is \(kind), not a file", isDevice ? other : "move it away, or \(other)")
        case .directory: Wording("\(path) is a directory, not a file", "move it away")
        case .foreignFile(let owner, let user):
            Wording(
                "\(path) belongs to \(owner), not to \(user)",
                "run Waypost as \(owner), move the file away, or \(other)")
        case .hardLinks(let count):
            Wording("\(path) has \(count) names (hard links)", "remove all but one, or \(other)")
        case .notReplaced(let owner): Wording("\(path) belongs to \(owner)", "remove it, or \(other)")
        case .notRemoved(let owner):
            Wording("\(path) belongs to \(owner) and isn't removed", "ask its owner to remove it, or \(other)")
        case .foreignOutput(let kind, let owner): Wording("\(path) is \(kind) owned by \(owner)", other)
        case .justReplaced: Wording("\(path) has just been replaced", other)
        case .foreignLink(let owner):
            Wording("\(path) is a symbolic link that belongs to \(owner) and is not followed", "remove it, or \(other)")
        case .foreignDirectory(let owner, let user):
            Wording(
                "the directory \(path) belongs to \(owner), who could replace a file with a symbolic link",
                "choose a directory that belongs to \(user), or run Waypost as \(owner)")
        case .sharedDirectory(let group): sharedDirectory(group, "run chmod go-w on it")
        case .stickyDirectory(let group): sharedDirectory(group, "choose a directory in it")
        case .sharedVolume(let group):
            sharedDirectory(group, "run chmod +t on it (usual for a Kubernetes volume with fsGroup)")
        case .notSocket(let kind):
            Wording(
                "\(path) is \(kind), not a socket, and is left unchanged",
                "choose another path, such as unix:/run/waypost/status")
        case .foreignSocket(let owner):
            Wording("\(path) is a socket that belongs to \(owner), and is left unchanged", other)
        case .notRecord(let option):
            Wording("\(path) exists and isn't a record of \(option)", "choose another file, or remove this file")
        case .closedOutput: Wording("\(path) is closed, so the result can't be written", "remove >&-")
        }
    }

    private func sharedDirectory(_ group: UInt32?, _ remedy: ReportedText) -> Wording {
        let writers: ReportedText = group.map { "members of gid \($0)" } ?? "every user"
        return Wording(
            "the directory \(path) may be written by \(writers), who could replace a file with a symbolic link",
            "\(remedy), or choose another directory")
    }
}

/// The way in which other users can change or replace a file.
package enum PathExposure: Sendable, Hashable {
    case owner(String)
    /// The members of this group can change it; `nil` stands for every user.
    case writable(group: UInt32?)
    case replaceable(PathRefusal)

    /// Returns the exposure of the file at `path`, which is the value of `key`, and the remedy.
    package func wording(of path: String, key: String) -> Wording {
        let file: ReportedText = "\(key): \(path)"
        return switch self {
        case .owner(let owner): Wording("\(file) belongs to \(owner), who can change it", "run chown root on it")
        case .writable(nil): Wording("\(file) can be changed by every user", "run chmod go-w on it")
        case .writable(let group?):
            Wording("\(file) can be changed by the members of gid \(group)", "run chmod go-w on it")
        case .replaceable(let refusal):
            Wording("\(file) can be replaced: \(refusal.wording.cause)", refusal.wording.remedy)
        }
    }
}
