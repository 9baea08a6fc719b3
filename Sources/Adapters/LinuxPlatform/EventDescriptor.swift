import CLinux
import Glibc

/// Wakes a thread that sits in `poll`: an eventfd.
package final class EventDescriptor: Sendable {
    private let descriptor: OwnedDescriptor

    package init() throws(SystemError) {
        descriptor = OwnedDescriptor(
            owning: try valueOrSystemError("eventfd") { eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)) })
    }

    /// For `poll`: readable once `signal` has been called.
    package var raw: CInt { descriptor.raw }

    /// Makes the descriptor readable.
    package func signal() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor.raw, &one, 8)  // can only fail when it is readable already
    }

    /// Blocks until the descriptor is readable; it stays readable.
    package func wait() {
        var watched = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&watched, 1, -1) < 1 {}
    }

    /// Makes the descriptor quiet again.
    package func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.raw, &count, 8)
    }
}
