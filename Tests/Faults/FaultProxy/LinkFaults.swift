/// What a link does to connections and to what passes over them; by default nothing.
package struct LinkFaults: Sendable, Hashable {
    /// What becomes of connections.
    package enum Reception: Sendable, Hashable {
        /// Each is passed on to the server.
        case passing
        /// Nobody listens.
        case refusing
        /// Each is accepted and what comes is read, from established ones too, but nothing is passed on or answered: a
        /// link that is half open.
        case swallowing
    }

    package var reception = Reception.passing
    package var toServer = LaneFaults()
    package var toClient = LaneFaults()

    package init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }
}
