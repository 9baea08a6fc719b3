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

    /// The same from a serial line, which has no end: reading nothing means that the device has gone.
    init(from line: SerialLine, into buffer: inout MutableSpan<UInt8>) throws(SystemError) {
        try self.init { () throws(SystemError) in try line.read(into: &buffer) }
        if self == .end { throw SystemError(call: "read", number: ENODEV) }
    }
}
