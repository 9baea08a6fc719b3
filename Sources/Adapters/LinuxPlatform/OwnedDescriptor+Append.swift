import CLinux
import Glibc

extension OwnedDescriptor {
    /// Opens `path` for writing at its end; a new file is for its owner only.
    package init(appendingTo path: String) throws(SystemError) {
        try self.init(opening: path, O_WRONLY | O_CREAT | O_APPEND)
    }
}
