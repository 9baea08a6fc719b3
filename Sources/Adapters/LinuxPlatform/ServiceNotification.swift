import CLinux
import Glibc

/// The systemd notify protocol: one datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
package struct ServiceNotification: Sendable {
    private let socketPath: String?

    /// `socketPath` is the value of `NOTIFY_SOCKET`; without one every message is a no-op.
    package init(socketPath: String?) { self.socketPath = socketPath.flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether anyone listens.
    package var isEnabled: Bool { socketPath != nil }

    /// Sends assignments, as `["READY=1", "STATUS=receiving"]`.
    ///
    /// - Throws: when the socket cannot be reached; the service goes on without being heard.
    package func send(_ assignments: [String]) throws(SystemError) {
        guard let socketPath else { return }
        let raw = try valueOrSystemError("socket for \(socketPath)") {
            socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        }
        let descriptor = OwnedDescriptor(owning: raw)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // An abstract address is written with a leading `@` and begins with a zero byte.
        let path = socketPath.hasPrefix("@") ? [0] + Array(socketPath.utf8.dropFirst()) : Array(socketPath.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw SystemError(call: "notify \(socketPath)", number: ENAMETOOLONG)
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count + (path.first == 0 ? 0 : 1))
        let message = Array(assignments.joined(separator: "\n").utf8)
        try unsafe withUnsafePointer(to: &address) { pointer throws(SystemError) in
            try unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic throws(SystemError) in
                _ = try valueOrSystemError("notify \(socketPath)") {
                    unsafe sendto(descriptor.raw, message, message.count, CInt(MSG_NOSIGNAL), generic, length)
                }
            }
        }
    }
}
