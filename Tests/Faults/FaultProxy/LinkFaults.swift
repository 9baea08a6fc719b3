/// The faults of a link, for connections and their bytes. By default, there are none.
package struct LinkFaults: Sendable, Hashable {
    /// The treatment of connections.
    package enum Reception: Sendable, Hashable {
        /// Each client is connected to the server.
        case passing
        /// The proxy stops listening, so that new connections are refused.
        case refusing
        /// The link is half open: the proxy accepts every connection and reads its bytes, including those of
        /// established connections, but forwards and answers nothing.
        case swallowing
    }

    package var reception = Reception.passing
    package var toServer = LaneFaults()
    package var toClient = LaneFaults()

    package init(_ change: (inout Self) -> Void = { _ in }) { change(&self) }
}
