/// The faults of a link, for connections and their bytes; by default none.
package struct LinkFaults: Sendable, Hashable {
    /// The treatment of connections.
    package enum Reception: Sendable, Hashable {
        /// Connect each client to the server.
        case passing
        /// Stop listening, so that new connections are refused.
        case refusing
        /// Accept every connection and read its bytes, including those of established connections, but forward and
        /// answer nothing: a half-open link.
        case swallowing
    }

    package var reception = Reception.passing
    package var toServer = LaneFaults()
    package var toClient = LaneFaults()

    package init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }
}
