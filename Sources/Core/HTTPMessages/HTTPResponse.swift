import TimeAndChance

/// A complete answer.
package struct HTTPResponse: Sendable, Hashable {
    /// The status code, 100...599 as received.
    package var status: Int
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// What the exchange cost on the wire.
    package var traffic: HTTPTraffic

    package init(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], traffic: HTTPTraffic = HTTPTraffic()
    ) {
        (self.status, self.headers, self.body, self.traffic) = (status, headers, body, traffic)
    }
}

/// What one exchange may cost before it is aborted.
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

/// The `Retry-After` field: seconds, or a date (RFC 9110, section 10.2.3).
package struct RetryAfter: Sendable, Hashable {
    /// How long to wait from the moment of the answer; never negative.
    package let delay: Duration

    /// Reads the field of `headers`; a date is measured against the answer's own `Date` field, so that this machine's
    /// clock does not matter. `nil` when the field is missing or means nothing.
    package init?(_ headers: HTTPHeaders) {
        guard let text = headers["Retry-After"] else { return nil }
        if let seconds = Int64(text) {
            guard (0...Self.longestSeconds).contains(seconds) else { return nil }
            delay = .seconds(seconds)
        } else {
            guard let then = UTCTime(httpDate: text), let now = headers["Date"].flatMap(UTCTime.init(httpDate:)) else {
                return nil
            }
            delay = max(.zero, min(.seconds(Self.longestSeconds), now.duration(to: then)))
        }
    }

    /// A day; no server means more.
    private static let longestSeconds: Int64 = 86_400
}
