import Glibc
package import LinuxPlatform

/// The service manager's end of the notify protocol: what a service says, an assignment a line.
package final class NotifySocket: Sendable {
    /// The value for `NOTIFY_SOCKET`.
    package let path: String
    package let messages: LineFlow

    package init(at path: String) throws(SystemError) {
        let descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("socket") {
                socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            })
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        precondition(bytes.count < MemoryLayout.size(ofValue: address.sun_path), "\(path) is too long for a socket")
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let raw = descriptor.raw
        try unsafe withUnsafePointer(to: &address) { pointer throws(SystemError) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic throws(SystemError) in
                _ = try valueOrSystemError("bind \(path)") {
                    unsafe bind(raw, generic, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        self.path = path
        messages = try LineFlow(reading: descriptor, isDatagrams: true)
    }
}
