import CLinux
import Glibc
package import LinuxPlatform

/// A pseudo-terminal: what the test writes comes out of the device at `path`, as from a receiver on a serial line.
package final class PseudoTerminal: Sendable {
    /// The device to be opened, as `/dev/pts/3`.
    package let path: String
    private let controller: Locked<CInt?>

    /// Made of posix_openpt, grantpt, unlockpt and ptsname_r (pty(7)).
    package init() throws(SystemError) {
        let descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("posix_openpt") { clinux_open_terminal(O_RDWR | O_NOCTTY | O_CLOEXEC) })
        try valueOrSystemError("grantpt") { clinux_grant_terminal(descriptor.raw) }
        try valueOrSystemError("unlockpt") { clinux_unlock_terminal(descriptor.raw) }
        var name = [CChar](repeating: 0, count: 64)
        let code = unsafe clinux_terminal_name(descriptor.raw, &name, UInt(name.count))
        guard code == 0 else { throw SystemError(call: "ptsname_r", number: code) }
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        try valueOrSystemError("fcntl") { fcntl(descriptor.raw, F_SETFL, O_NONBLOCK) }
        controller = Locked(descriptor.release())
    }

    deinit { unplug() }

    /// The receiver sends `bytes`; does nothing once unplugged. What finds no room on a line that nobody has open is
    /// lost, as on any serial line.
    ///
    /// - Throws: when who has it open reads nothing for seconds: a test that goes on writing would hold a thread of the
    ///   pool for ever.
    package func send(_ bytes: [UInt8]) throws(SystemError) {
        guard let raw = controller.withLock({ $0 }) else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = Array(rest)
            let count = unsafe write(raw, chunk, chunk.count)
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            guard errno == EAGAIN || errno == EINTR else { throw SystemError(call: "write", number: errno) }
            var watched = pollfd(fd: raw, events: CShort(POLLOUT), revents: 0)
            guard unsafe poll(&watched, 1, Self.patience) != 0 else { throw SystemError(call: "write", number: EAGAIN) }
            if watched.revents & CShort(POLLHUP) != 0 { return }
        }
    }

    /// Milliseconds for which a full line is waited for.
    private static let patience: CInt = 5000

    package func send(_ text: String) throws(SystemError) { try send(Array(text.utf8)) }

    /// The speed that the reader has set, as `B9600` of termios(3); `nil` once unplugged.
    package var speed: UInt32? {
        guard let raw = controller.withLock({ $0 }) else { return nil }
        var settings = termios()
        return unsafe tcgetattr(raw, &settings) == 0 ? unsafe cfgetispeed(&settings) : nil
    }

    /// The device goes: whoever has it open reads an error or its end.
    package func unplug() {
        let raw = controller.withLock { controller in
            defer { controller = nil }
            return controller
        }
        if let raw { close(raw) }
    }
}
