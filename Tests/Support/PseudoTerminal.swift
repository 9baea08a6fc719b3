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
            owning: try valueOrSystemError("posix_openpt") { posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) })
        try valueOrSystemError("grantpt") { grantpt(descriptor.raw) }
        try valueOrSystemError("unlockpt") { unlockpt(descriptor.raw) }
        var name = [CChar](repeating: 0, count: 64)
        let code = unsafe ptsname_r(descriptor.raw, &name, UInt(name.count))
        guard code == 0 else { throw SystemError(call: "ptsname_r", number: code) }
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        controller = Locked(descriptor.release())
    }

    deinit { unplug() }

    /// The receiver sends `bytes`; does nothing once unplugged.
    package func send(_ bytes: [UInt8]) throws(SystemError) {
        guard let raw = controller.withLock({ $0 }) else { return }
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = Array(rest)
            rest = rest.dropFirst(try valueOrSystemError("write") { unsafe write(raw, chunk, chunk.count) })
        }
    }

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
