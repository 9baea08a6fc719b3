package import GNSS

/// A source of fixes. The receivers in `GNSSReceiver` implement this protocol.
package protocol FixSource: Sendable {
    /// Delivers fixes and changes of state until the source ends or the task is cancelled.
    ///
    /// A recorded log waits for `deliver` to return before it continues. A live receiver never waits: while `deliver`
    /// is busy, it keeps only the newest fix. A missing or silent receiver is a state, not an error, and is retried
    /// forever.
    ///
    /// - Throws: a fault that no retry can resolve, such as bad input data.
    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError)
}

/// An event of a `FixSource`.
package enum FixSourceEvent: Sendable, Hashable {
    case fix(Fix)
    /// The receiver's state has changed.
    case state(ReceiverState)
    /// A problem that the operator should know about, reported by the receiver or evident from its output. A warning
    /// may be repeated.
    case warning(ReceiverWarning)
    /// The satellites in view of a live receiver, at most once per second.
    case sky(Sky)
    /// The progress of a replay: the time reached within its logs, and their total duration.
    case progress(reached: Duration, of: Duration)
}

/// A fault of the input that no retry can resolve.
package struct FixSourceError: Error, Sendable, Hashable {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The log doesn't exist, or this user isn't allowed to read it.
        case cannotOpen
        /// The log isn't a receiver's recording. It is, for example, a directory, UTF-16 text or a damaged archive.
        case notALog
        /// The log doesn't fit into memory.
        case tooLong
        case readFailed
        case cancelled
    }

    package enum Reason: Sendable, Hashable {
        /// A log that can't be used.
        case log(name: String, LogFault)
        /// An input that can't be reopened, such as standard input. The fault is `nil` if the input ended without a
        /// sentence.
        case line(source: String, ReceiverFault?)
    }

    package let code: Code
    package let reason: Reason

    /// Creates the error for `fault` in the log `name`.
    package init(log name: String, _ fault: LogFault) {
        code = fault.code
        reason = .log(name: name, fault)
    }

    package init(_ code: Code, source: String, _ fault: ReceiverFault?) {
        self.code = code
        reason = .line(source: source, fault)
    }
}
