import CLinux
import Glibc

/// A sender of messages to the service manager by systemd's notify protocol: one datagram to the socket in
/// `NOTIFY_SOCKET` (sd_notify(3)).
package struct ServiceNotifier: Sendable {
    private let socketPath: String?

    /// Creates a notifier. `socketPath` is the value of `NOTIFY_SOCKET`; without it, messages are dropped.
    package init(socketPath: String?) { self.socketPath = socketPath.flatMap { $0.isEmpty ? nil : $0 } }

    /// The assignments that announce a reload, which ends with `READY=1`. A unit of `Type=notify-reload` requires the
    /// time of the reload.
    package static var reloading: [String] {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return ["RELOADING=1", "MONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)"]
    }

    /// Sends assignments such as `["READY=1", "STATUS=receiving"]`. Doesn't wait for a busy manager.
    ///
    /// - Throws: if the socket can't be reached or has no room (`EAGAIN`); the service continues anyway.
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
