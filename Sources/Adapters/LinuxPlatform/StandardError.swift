import Glibc

/// Standard error, for logs and for people.
package enum StandardError {
    /// Writes `bytes`; what cannot be written (a closed pipe) is dropped, for there is nowhere left to say so.
    package static let write: @Sendable ([UInt8]) -> Void = { bytes in
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(STDERR_FILENO, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            done += count
        }
    }

    /// Whether a person may be looking.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
