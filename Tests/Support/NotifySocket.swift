import Glibc
package import LinuxPlatform

/// The service manager's end of the notify protocol: the service's messages, one assignment per line.
package final class NotifySocket: Sendable {
    /// The value for `NOTIFY_SOCKET`.
    package let path: String
    package let messages: LineFlow

    /// Listens at `path`: a path in the file system, or an abstract name with a leading `@`.
    package convenience init(at path: String) throws(SystemError) {
        try self.init(at: path, reading: Self.bound(to: path))
    }

    /// Listens on a socket that `bound(to:)` returned for `path`. Messages that already wait there are read first.
    package init(at path: String, reading descriptor: consuming OwnedDescriptor) throws(SystemError) {
        self.path = path
        messages = try LineFlow(reading: descriptor, isDatagrams: true)
    }

    /// Returns a socket at `path` that isn't read, as if the manager hung.
    package static func bound(to path: String) throws(SystemError) -> OwnedDescriptor {
        let descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("socket") {
                socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            })
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract name begins with a zero byte and ends with the address.
        let isAbstract = path.hasPrefix("@")
        let bytes = isAbstract ? [0] + Array(path.utf8.dropFirst()) : Array(path.utf8)
        precondition(bytes.count < MemoryLayout.size(ofValue: address.sun_path), "\(path) is too long for a socket")
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1)
        let raw = descriptor.raw
        try unsafe withUnsafePointer(to: &address) { pointer throws(SystemError) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic throws(SystemError) in
                _ = try valueOrSystemError("bind \(path)") { unsafe bind(raw, generic, socklen_t(length)) }
            }
        }
        return descriptor
    }
}
