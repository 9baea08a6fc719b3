import CLinux
import Glibc

/// A sender of messages to the service manager by systemd's notify protocol. Each message is one datagram to the socket
/// named by `NOTIFY_SOCKET` (sd_notify(3)).
package struct ServiceNotifier: Sendable {
    private let socketPath: String?

    /// Creates a notifier. `socketPath` is the value of `NOTIFY_SOCKET`; if it is `nil` or empty, messages are dropped.
    package init(socketPath: String?) { self.socketPath = socketPath.flatMap { $0.isEmpty ? nil : $0 } }

    /// The assignments that announce the start of a reload; `READY=1` later announces its end. A unit of
    /// `Type=notify-reload` also requires the time at which the reload began.
    package static var reloading: [String] {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return ["RELOADING=1", "MONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)"]
    }

    /// Sends assignments such as `["READY=1", "STATUS=receiving"]` in one message. Doesn't wait if the manager is busy.
    ///
    /// - Throws: an error if the socket can't be reached or its queue is full (`EAGAIN`). The service continues without
    ///   the message.
    package func send(_ assignments: [String]) throws(SystemError) {
        guard let socketPath else { return }
        let call = "notify \(socketPath)"
        // A leading `@` in the variable stands for an abstract socket address.
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
