import Glibc
import ReportedText

/// Standard output, for results that machines read.
package enum StandardOutput {
    /// Writes `bytes` whole.
    ///
    /// - Throws: when the reader has gone, as in `waypost fixes | head`, the disk is full, or it was closed all along.
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
                throw SystemError(
                    refusing: "standard output",
                    because: "standard output is closed, so that the result has nowhere to go; leave >&- out")
            }
        }
    }

    /// Writes `text`, freed of what could steer a terminal, and a line feed; before it `own`, words of the program that
    /// may steer one.
    package static func write(_ own: String = "", line text: String) throws(SystemError) {
        try write(Array((own + text.printableLines + "\n").utf8))
    }
}

extension StandardOutput {
    /// Whether a person is looking.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
}
