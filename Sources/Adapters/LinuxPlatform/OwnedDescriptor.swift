import Glibc
import CLinux

/// Owns a file descriptor: one owner, closed exactly once.
package struct OwnedDescriptor: ~Copyable, Sendable {
    /// For `poll` and for calls that have no wrapper; valid as long as the owner lives.
    package let raw: CInt

    /// Takes over `raw`, which nobody else closes.
    package init(owning raw: CInt) { self.raw = raw }

    /// Opens `path`, never to be inherited by a child process.
    package init(opening path: String, _ flags: CInt, mode: UInt32 = 0o600) throws(SystemError) {
        raw = try valueOrSystemError("open \(path)") { unsafe clinux_open_create(path, flags | O_CLOEXEC, mode) }
    }

    deinit { close(raw) }

    /// Gives the descriptor away without closing it.
    package consuming func release() -> CInt {
        let raw = raw
        discard self
        return raw
    }

    /// Reads once; zero means end of input.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(SystemError) -> Int {
        try unsafe buffer.withUnsafeMutableBytes { bytes throws(SystemError) in
            try valueOrSystemError("read") { unsafe Glibc.read(raw, bytes.baseAddress, bytes.count) }
        }
    }

    /// Writes everything, however often the kernel takes only a part.
    package func writeAll(_ bytes: Span<UInt8>) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            done += try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
                try valueOrSystemError("write") {
                    unsafe Glibc.write(raw, buffer.baseAddress?.advanced(by: done), buffer.count - done)
                }
            }
        }
    }
}
