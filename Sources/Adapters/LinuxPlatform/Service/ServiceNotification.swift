import CLinux
import Glibc

/// The systemd notify protocol: one datagram to the socket that `NOTIFY_SOCKET` names (sd_notify(3)).
package struct ServiceNotification: Sendable {
    private let socketPath: String?

    /// `socketPath` is the value of `NOTIFY_SOCKET`; without one every message is a no-op.
    package init(socketPath: String?) { self.socketPath = socketPath.flatMap { $0.isEmpty ? nil : $0 } }

    /// What says that the configuration is read anew, until `READY=1` follows. Of `Type=notify-reload` the manager
    /// wants to know since when.
    package static var reloading: [String] {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return ["RELOADING=1", "MONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)"]
    }

    /// Sends assignments, as `["READY=1", "STATUS=receiving"]`. Does not wait for a manager that is behind.
    ///
    /// - Throws: when the socket cannot be reached, or has no room (`EAGAIN`); the service continues without it.
    package func send(_ assignments: [String]) throws(SystemError) {
        guard let socketPath else { return }
        let call = "notify \(socketPath)"
        // An abstract address is written with a leading `@`.
        let name = socketPath.hasPrefix("@") ? String(socketPath.dropFirst()) : nil
        guard let address = name.map(SocketAddress.init(abstractName:)) ?? SocketAddress(path: socketPath) else {
            throw SystemError(call: call, number: ENAMETOOLONG)
        }
        let descriptor = OwnedDescriptor(
            owning: try valueOrSystemError(call) {
                socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            })
        let message = Array(assignments.joined(separator: "\n").utf8)
        try valueOrSystemError(call) {
            unsafe address.withPointer {
                unsafe sendto(descriptor.raw, message, message.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT), $0, $1)
            }
        }
    }
}
