package import ReportedText

/// Sends requests: the port that `CurlTransport` implements, and tests script.
package protocol HTTPTransport: Sendable {
    /// One exchange. Any status is an answer; redirects are answers too and are never followed.
    ///
    /// Cancelling the task ends the exchange at once with `.cancelled`.
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse

    /// Tells that this machine has a new route to the network: connections that lie idle may be dead, and are not used
    /// again; an exchange that is still connecting fails with `.connectionFailed`.
    func networkChanged()
}

extension HTTPTransport {
    /// Does nothing: a transport that keeps no connections has none to close.
    package func networkChanged() {}
}

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

    /// What is wrong with a certificate that is not trusted, for whoever has to mend it; the retry rules ask nobody.
    package enum CertificateFault: Sendable, Hashable { case outsideItsTime, ofAnotherName, ofUnknownAuthority }

    package let code: Code
    /// What happened, in words, without any header or body.
    package let detail: ReportedText
    /// Of `.certificateNotTrusted`, as far as it is known.
    package let certificateFault: CertificateFault?
    /// What the failed exchange cost on the wire.
    package let traffic: HTTPTraffic

    package init(
        _ code: Code, _ detail: ReportedText, certificateFault: CertificateFault? = nil,
        traffic: HTTPTraffic = HTTPTraffic()
    ) {
        (self.code, self.detail, self.traffic) = (code, detail, traffic)
        self.certificateFault = certificateFault
    }

    package var description: String { detail.description }
}

/// Bytes of one exchange as libcurl counts them: request and answer with their headers, without TLS and TCP framing.
package struct HTTPTraffic: Sendable, Hashable {
    package var bytesSent: Int
    package var bytesReceived: Int

    package init(bytesSent: Int = 0, bytesReceived: Int = 0) {
        (self.bytesSent, self.bytesReceived) = (bytesSent, bytesReceived)
    }

    package static func + (one: Self, other: Self) -> Self {
        Self(
            bytesSent: one.bytesSent + other.bytesSent, bytesReceived: one.bytesReceived + other.bytesReceived)
    }

    package static func += (sum: inout Self, other: Self) { sum = sum + other }
}
