/// What a receiver is doing, in the operator's terms.
package enum ReceiverState: Sendable, Hashable, CustomStringConvertible {
    /// Bytes are arriving.
    case receiving(source: String)
    /// Nothing usable arrives: why, and what is being waited for.
    case waiting(source: String, reason: String)
    /// A recorded log has been read to its end.
    case ended(source: String)

    package var description: String {
        switch self {
        case .receiving(let source): "\(source): receiving"
        case .waiting(let source, let reason): "\(source): \(reason)"
        case .ended(let source): "\(source): end of log"
        }
    }
}
