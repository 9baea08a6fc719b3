/// The maximum number of transfers that libcurl may run at once, and of connections that it may open for them.
///
/// libcurl iterates over every transfer for each event, and opens a new connection for each transfer that doesn't fit
/// on an open one. So libcurl gets only as many transfers as its connections can carry: one per connection over
/// HTTP/1.1, and the streams of a few connections over HTTP/2. Until the first response shows the protocol, the limit
/// is the capacity of one HTTP/2 connection.
struct TransferPlaces: Sendable, Hashable {
    /// The minimum number of streams that a server is advised to allow per connection (RFC 9113, section 6.5.2).
    private static let streamsPerConnection = 100
    private static let sharedConnections = 5

    private let maximumConnections: Int
    private var sharesConnections: Bool?

    init(maximumConnections: Int) { self.maximumConnections = max(1, maximumConnections) }

    /// Records the protocol of a response. Returns whether the limits have changed.
    mutating func recordAnswer(overHTTP2: Bool) -> Bool {
        exchange(&sharesConnections, with: overHTTP2) != overHTTP2
    }

    var connections: Int {
        sharesConnections == true ? min(Self.sharedConnections, maximumConnections) : maximumConnections
    }

    var transfers: Int {
        switch sharesConnections {
        case nil: Self.streamsPerConnection
        case true?: Self.streamsPerConnection * connections
        case false?: connections
        }
    }
}
