import Glibc
import LinuxPlatform

/// A file for a command's result that cannot be written, in words that say what to do.
struct UnwritableFile: Error, Sendable, Hashable, CustomStringConvertible {
    let path: String
    let cause: SystemError

    var description: String {
        let folder = FileSystem.parent(of: path)
        if let refusal = cause.refusal { return "\(path) cannot be written: \(refusal)" }
        let remedy =
            switch cause.number {
            case ENOENT, ENOTDIR: "there is no folder \(folder); create it, or name another file"
            case EACCES, EPERM: "this user may not write in \(folder); name a file elsewhere"
            case EROFS: "\(folder) is on a read-only file system; mount it for writing, or name a file elsewhere"
            case EISDIR: "it is a folder; name a file in it"
            case ENOSPC, EDQUOT: "no space is left in \(folder); make room, or name a file elsewhere"
            default: cause.reason
            }
        return "\(path) cannot be written: \(remedy)"
    }
}
