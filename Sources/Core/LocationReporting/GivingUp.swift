/// Why an upload under way is given up before its time limits.
package enum GivingUp: Sendable, Hashable {
    /// The network has changed beneath it, and no answer has come since.
    case networkChanged
    /// It carries older positions, no answer comes, and a newer position waits behind it.
    case newerPosition

    /// For the operator.
    package var words: String {
        switch self {
        case .networkChanged: "the network changed, and no answer came on the old connection"
        case .newerPosition: "no answer to older positions while a newer one waits, which goes first"
        }
    }
}
