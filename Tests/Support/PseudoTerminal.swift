import CLinux
import Glibc
package import LinuxPlatform

/// A pseudo-terminal that replaces a receiver on a serial port: the device at `path` delivers the bytes that a test
/// sends.
package final class PseudoTerminal: Sendable {
    /// The path of the device, such as `/dev/pts/3`.
    package let path: String
    private let controller: Locked<CInt?>

    /// Makes a pseudo-terminal with posix_openpt, grantpt, unlockpt and ptsname_r (pty(7)).
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

    /// Sends `bytes`, unless unplugged. If no program has the device open, bytes without room are lost, as on a real
    /// serial port.
    ///
    /// - Throws: an error if the program that has the device open reads nothing for seconds. Waiting longer would
    ///   occupy a thread of the pool.
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
            guard unsafe poll(&watched, 1, Self.timeout) != 0 else { throw SystemError(call: "write", number: EAGAIN) }
            if watched.revents & CShort(POLLHUP) != 0 { return }
        }
    }

    /// The maximum wait, in milliseconds, for a program that doesn't read.
    private static let timeout: CInt = 5000

    package func send(_ text: String) throws(SystemError) { try send(Array(text.utf8)) }

    /// The speed that the reader has set, such as `B9600` of termios(3); `nil` once unplugged.
    package var speed: UInt32? {
        guard let raw = controller.withLock({ $0 }) else { return nil }
        var settings = termios()
        return unsafe tcgetattr(raw, &settings) == 0 ? unsafe cfgetispeed(&settings) : nil
    }

    /// Removes the device. A program that has it open gets an error or end of file when it reads.
    package func unplug() {
        let raw = controller.withLock { controller in
            defer { controller = nil }
            return controller
        }
        if let raw { close(raw) }
    }
}
