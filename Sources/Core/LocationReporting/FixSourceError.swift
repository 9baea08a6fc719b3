/// Input that no retry can mend.
package struct FixSourceError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// A log that does not exist or may not be read.
        case cannotOpen
        /// A folder, UTF-16 text, a damaged archive: not a recording of a receiver.
        case notALog
        case readFailed
        case cancelled
    }

    package let code: Code
    /// Which file, what is wrong with it, what to do.
    package let detail: String

    package init(_ code: Code, _ detail: String) { (self.code, self.detail) = (code, detail) }

    package var description: String { detail }
}
