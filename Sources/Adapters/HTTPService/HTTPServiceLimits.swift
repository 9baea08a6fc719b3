/// What a client may cost the service. Every size and time has a bound, so that no client can hold it up.
package struct HTTPServiceLimits: Sendable, Hashable {
    /// Method, target and version.
    package var requestLineBytes: Int
    /// All header lines together; the trailers of a chunked body count anew.
    package var headerBytes: Int
    package var headerCount: Int
    package var bodyBytes: Int
    /// Between two requests of a connection; then it is closed without a word.
    package var idle: Duration
    /// From a request's first byte to its last, and again for a client to take the answer.
    package var exchange: Duration
    /// Open at the same time; for one more, the connection that has asked for nothing for the longest time is closed,
    /// so that nobody is shut out by who only holds connections.
    package var connections: Int
    /// Whether all of them together may cost a tenth of a processor core and no more. Who reads the same at the same
    /// time then gets the same answer: it is to depend on method and target alone.
    package var isPaced: Bool

    package init(
        requestLineBytes: Int = 8192, headerBytes: Int = 16384, headerCount: Int = 64, bodyBytes: Int = 1 << 20,
        idle: Duration = .seconds(60), exchange: Duration = .seconds(30), connections: Int = 64,
        isPaced: Bool = false
    ) {
        (self.requestLineBytes, self.headerBytes, self.headerCount) = (requestLineBytes, headerBytes, headerCount)
        (self.bodyBytes, self.idle, self.exchange, self.connections) = (bodyBytes, idle, exchange, connections)
        self.isPaced = isPaced
    }
}
