/// What one exchange may cost before it is given up.
package struct HTTPLimits: Sendable, Hashable {
    /// The longest wait for a connection, name resolution and TLS handshake included.
    package var connect: Duration
    /// The longest wait for the whole exchange.
    package var total: Duration
    /// The longest time without a byte in either direction once connected.
    package var stall: Duration
    /// The largest answer body that is accepted, in bytes.
    package var responseBytes: Int

    package init(
        connect: Duration = .seconds(10), total: Duration = .seconds(15), stall: Duration = .seconds(10),
        responseBytes: Int = 1 << 20
    ) {
        (self.connect, self.total, self.stall, self.responseBytes) = (connect, total, stall, responseBytes)
    }
}
