/// Why the outbox could not do what was asked.
package struct OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// Another process owns the store.
        case locked
        /// No space is left on the device; what was accepted is safe, the new update is not accepted.
        case full
        /// The store cannot be read or written.
        case unusable
        /// The store was damaged, repaired, and is damaged again.
        case damaged
        /// The store was written by a newer release.
        case newerSchema
        /// The store has been closed.
        case closed
    }

    package let code: Code
    /// Which file, what happened, what to do.
    package let detail: String

    package init(_ code: Code, _ detail: String) { (self.code, self.detail) = (code, detail) }

    package var description: String { detail }
}
