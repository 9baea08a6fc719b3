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
        case starting, receiving, noPosition, waiting, ended
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

    /// Whether somebody may have to do something about it.
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
