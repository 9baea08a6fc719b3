package import GNSS

/// The source of fixes: the port that the receivers of `GNSSReceiver` implement.
package protocol FixSource: Sendable {
    /// Delivers fixes and changes of state until the source ends or the task is cancelled.
    ///
    /// A recorded log waits for `deliver` to return before it continues. A live receiver never waits: while `deliver`
    /// is busy, it keeps only the newest fix. A missing or silent receiver is a state, and is retried forever.
    ///
    /// - Throws: a fault that no retry can resolve, such as bad input data.
    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError)
}

/// An event of a `FixSource`.
package enum FixSourceEvent: Sendable, Hashable {
    case fix(Fix)
    /// The receiver's state has changed.
    case state(ReceiverState)
    /// The receiver states or shows something that the operator should know. The same warning may be repeated.
    case warning(ReceiverWarning)
    /// The satellites that a live receiver sees, at most once per second.
    case sky(Sky)
    /// The position of a replay within the time of its logs, and their total time.
    case progress(reached: Duration, of: Duration)
}

/// A fault of the input that no retry can resolve.
package struct FixSourceError: Error, Sendable, Hashable {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The log does not exist or may not be read.
        case cannotOpen
        /// The input isn't a recording of a receiver, but a directory, UTF-16 text or a damaged archive.
        case notALog
        /// The log doesn't fit into memory.
        case tooLong
        case readFailed
        case cancelled
    }

    package enum Reason: Sendable, Hashable {
        /// A message with the file, its fault and the remedy.
        case log(String)
        /// The fault of a line that can't be opened again; `nil` if it ended without a sentence.
        case line(source: String, ReceiverFault?)
    }

    package let code: Code
    package let reason: Reason

    package init(_ code: Code, _ detail: String) {
        self.code = code
        reason = .log(detail)
    }

    package init(_ code: Code, source: String, _ fault: ReceiverFault?) {
        self.code = code
        reason = .line(source: source, fault)
    }
}
