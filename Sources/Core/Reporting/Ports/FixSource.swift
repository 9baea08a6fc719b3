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
package struct FixSourceError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// A log that does not exist or may not be read.
        case cannotOpen
        /// A folder, UTF-16 text, a damaged archive: not a recording of a receiver.
        case notALog
        /// More than can be kept in memory.
        case tooLong
        case readFailed
        case cancelled
    }

    package let code: Code
    /// Which file, what is wrong with it, what to do.
    package let detail: String

    package init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    package var description: String { detail }
}

/// What a receiver is doing, in the operator's terms.
package enum ReceiverState: Sendable, Hashable, CustomStringConvertible {
    /// The line is open and nothing is wrong so far, but no sentence has come: what is being tried or waited for.
    case starting(source: String, detail: String)
    /// Sentences are arriving; `detail` is what was found out about the line, if anything.
    case receiving(source: String, detail: String = "")
    /// Sentences are arriving, but have not led to a position for long; `hadOne`: since the start there has been one.
    case noPosition(source: String, hadOne: Bool)
    /// Nothing usable arrives: why, and what is being waited for.
    case waiting(source: String, reason: String)
    /// A recorded log has been read to its end.
    case ended(source: String)

    /// The kinds of state, by the words of status and metrics.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case starting, receiving
        case noPosition = "no_position"
        case waiting, ended
    }

    package var kind: Kind {
        switch self {
        case .starting: .starting
        case .receiving: .receiving
        case .noPosition: .noPosition
        case .waiting: .waiting
        case .ended: .ended
        }
    }

    /// Whether an operator may have to act.
    package var isTrouble: Bool { kind == .noPosition || kind == .waiting }

    package var description: String {
        switch self {
        case .starting(let source, let detail): "\(source): \(detail)"
        case .receiving(let source, let detail): "\(source): receiving\(detail.isEmpty ? "" : " " + detail)"
        case .noPosition(let source, false): "\(source): receiving, no position yet: antenna and sky view"
        case .noPosition(let source, true): "\(source): receiving, no position any more: antenna and sky view"
        case .waiting(let source, let reason): "\(source): \(reason)"
        case .ended(let source): "\(source): end of log"
        }
    }
}
