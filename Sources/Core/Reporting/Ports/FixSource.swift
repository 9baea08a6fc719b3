package import GNSS

/// Where fixes come from: the port that the receivers of `GNSSReceiver` implement.
package protocol FixSource: Sendable {
    /// Delivers fixes and changes of state until the source ends or the task is cancelled.
    ///
    /// `deliver` is awaited: a recorded log is read no faster than its fixes are taken. A live receiver never waits;
    /// while `deliver` is busy it keeps the newest fix alone. A receiver that is missing or silent is a state, retried
    /// for ever; only what no retry can resolve (bad input data) is thrown.
    func run(deliver: @escaping @Sendable (FixSourceEvent) async -> Void) async throws(FixSourceError)
}

/// What a `FixSource` delivers.
package enum FixSourceEvent: Sendable, Hashable {
    case fix(Fix)
    /// The receiver's state has changed.
    case state(ReceiverState)
    /// The receiver says or shows something that the operator should know; the same one may come again and again.
    case warning(ReceiverWarning)
    /// The satellites that a live receiver sees, once a second at most.
    case sky(Sky)
    /// How far into the time of its logs a replay has come, and how long they are.
    case progress(reached: Duration, of: Duration)
}

/// Input that no retry can make usable.
package struct FixSourceError: Error, Sendable, Hashable {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// A log that doesn't exist or may not be read.
        case cannotOpen
        /// A directory, UTF-16 text, a damaged archive: not a recording of a receiver.
        case notALog
        /// More than can be kept in memory.
        case tooLong
        case readFailed
        case cancelled
    }

    package enum Reason: Sendable, Hashable {
        /// A log that can't be used.
        case log(name: String, LogFault)
        /// A line that can't be opened again; `nil` if it ended without a sentence.
        case line(source: String, ReceiverFault?)
    }

    package let code: Code
    package let reason: Reason

    /// Creates the error that `fault` of the log `name` is.
    package init(log name: String, _ fault: LogFault) {
        code = fault.code
        reason = .log(name: name, fault)
    }

    package init(_ code: Code, source: String, _ fault: ReceiverFault?) {
        self.code = code
        reason = .line(source: source, fault)
    }
}
