import Glibc

/// Standard error, for logs and for people.
///
/// A reader that hangs (a journal on a disk that does, a paused pager) is not waited for: what it does not take is left
/// out, and counted.
package enum StandardError {
    private static let output = try? BackgroundOutput(named: "stderr", output: writeAll)

    /// Writes `bytes` soon; `notice` words it when writes before were left out.
    package static func write(
        _ bytes: [UInt8], notice: @escaping BackgroundOutput.Notice = { Array("(\($0) messages were dropped)\n".utf8) }
    ) {
        if let output { output.write(bytes, notice: notice) } else { writeAll(bytes) }
    }

    /// Writes `bytes` before anything that standard output is given next; but for a reader who hangs.
    package static func writeNow(_ bytes: [UInt8]) {
        write(bytes)
        flush(within: .seconds(1))
    }

    /// What is still to be written when all is done, but for a reader who hangs.
    package static func lastWords() async {
        await onThread(named: "last-words") { flush(within: .milliseconds(250)) }
    }

    /// Blocks until nothing is left to write, for `limit` at most.
    package static func flush(within limit: Duration) { output?.flush(within: limit) }

    /// What cannot be written (a closed pipe, a full disk) is dropped, for there is nowhere left to say so.
    @Sendable private static func writeAll(_ bytes: [UInt8]) {
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(STDERR_FILENO, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count > 0 {
                done += count
            } else if count < 0, errno == EAGAIN {
                // Somebody who shares it has made it nonblocking.
                var room = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&room, 1, -1)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }

    /// Whether a person may be looking.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
