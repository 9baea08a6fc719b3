import Glibc
import Reporting
import ReportedText

/// The standard output of this process, for machine-readable results.
package enum StandardOutput {
    /// Writes all of `bytes`.
    ///
    /// - Throws: an error if the reader has gone (`waypost fixes | head`), the disk is full, or standard output is
    ///   closed.
    package static func write(_ bytes: [UInt8]) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            do throws(SystemError) {
                done += try unsafe bytes.span.withUnsafeBytes { buffer throws(SystemError) in
                    try valueOrSystemError("write to standard output") {
                        unsafe Glibc.write(STDOUT_FILENO, buffer.baseAddress?.advanced(by: done), buffer.count - done)
                    }
                }
            } catch  where error.number == EBADF {
                throw SystemError(refusing: "standard output", because: .closedOutput)
            }
        }
    }

    /// Writes `trustedText`, `text` and a line feed. Control characters are removed from `text`, which may come from
    /// elsewhere, but not from `trustedText`, which this program has made.
    package static func write(_ trustedText: String = "", line text: String) throws(SystemError) {
        try write(Array((trustedText + text.printableLines + "\n").utf8))
    }

    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}
