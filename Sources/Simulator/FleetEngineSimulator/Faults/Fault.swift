/// What goes wrong with one request.
package enum Fault: Sendable, Hashable {
    case none
    case error(status: Int)
    case reset
    case drop
    case stall
    /// The network is away.
    case outage

    /// For the record and the page; `nil` when nothing went wrong.
    package var name: String? {
        switch self {
        case .none: nil
        case .error: "error"
        case .reset: "reset"
        case .drop: "drop"
        case .stall: "stall"
        case .outage: "outage"
        }
    }
}
