package import ReportedText

/// Why an exchange brought no complete answer.
package struct HTTPTransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it was; the retry rules depend on nothing else.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case cancelled
        case nameNotResolved
        case connectionFailed
        /// The connection, the whole exchange, or a byte took longer than `HTTPLimits` allows.
        case timedOut
        /// The connection ended or was reset before the answer was complete.
        case connectionLost
        /// The server's certificate could not be verified: wrong host, unknown issuer, or outside its time.
        case certificateNotTrusted
        /// TLS could not be set up for another reason.
        case tlsFailed
        case responseTooLarge
        /// The answer was not HTTP.
        case malformedResponse
        /// The transport itself failed: a certificate file that cannot be read, no memory.
        case transportFailed
    }

    package let code: Code
    /// What happened, in words, without any header or body.
    package let detail: ReportedText
    /// What the failed exchange cost on the wire.
    package let traffic: HTTPTraffic

    package init(_ code: Code, _ detail: ReportedText, traffic: HTTPTraffic = HTTPTraffic()) {
        (self.code, self.detail, self.traffic) = (code, detail, traffic)
    }

    package var description: String { detail.description }
}
