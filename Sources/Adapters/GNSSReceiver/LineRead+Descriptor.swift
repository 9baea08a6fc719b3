import Glibc
import LinuxPlatform

extension LineRead {
    /// The meaning of one `read` from a descriptor that does not block.
    init(_ read: () throws(SystemError) -> Int) throws(SystemError) {
        do throws(SystemError) {
            let count = try read()
            self = count == 0 ? .end : .bytes(count)
        } catch {
            guard error.number == EAGAIN else { throw error }
            self = .nothingYet
        }
    }
}
