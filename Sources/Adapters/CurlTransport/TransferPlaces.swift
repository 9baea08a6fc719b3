/// How many transfers libcurl gets at once, and how many connections it may open for them: a decision, without sockets.
///
/// libcurl looks at every transfer each time that it looks at one, and opens a connection for each that finds no room
/// on those there are. So it gets no more than there is room for: over HTTP/1.1 one a connection, over HTTP/2 the
/// streams of a few connections; and until the first answer tells which it is, what one connection of HTTP/2 carries.
struct TransferPlaces: Sendable, Hashable {
    /// A server allows a hundred streams on a connection at least (RFC 9113, section 6.5.2).
    private static let streams = 100
    private static let sharedConnections = 5

    /// Over HTTP/1.1.
    private let mostConnections: Int
    private var sharesConnections: Bool?

    init(mostConnections: Int) { self.mostConnections = max(1, mostConnections) }

    /// An answer came, over HTTP/2 or an earlier one; whether that changes anything.
    mutating func answered(overHTTP2: Bool) -> Bool {
        exchange(&sharesConnections, with: overHTTP2) != overHTTP2
    }

    var connections: Int {
        sharesConnections == true ? min(Self.sharedConnections, mostConnections) : mostConnections
    }

    var transfers: Int {
        switch sharesConnections {
        case nil: Self.streams
        case true?: Self.streams * connections
        case false?: connections
        }
    }
}
