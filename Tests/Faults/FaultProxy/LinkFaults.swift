/// The faults of a link, for connections and their bytes; by default none.
package struct LinkFaults: Sendable, Hashable {
    /// The treatment of connections.
    package enum Reception: Sendable, Hashable {
        /// Connect each to the server.
        case passing
        /// Listen no longer.
        case refusing
        /// Accept each and read its bytes, also those of established connections, but pass nothing on and answer
        /// nothing: a half-open link.
        case swallowing
    }

    package var reception = Reception.passing
    package var toServer = LaneFaults()
    package var toClient = LaneFaults()

    package init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }
}
