package import ReportedText

/// A client that sends HTTP requests. `CurlTransport` implements it; tests use other implementations.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and returns the response. Any status counts as a success, including redirects, which are never
    /// followed.
    ///
    /// Cancelling the task ends the exchange at once with `.cancelled`.
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse

    /// Notifies the transport that the machine's route to the network has changed. Idle connections may be dead and
    /// aren't reused. An exchange that is still connecting fails with `.connectionFailed`.
    func networkChanged()
}

extension HTTPTransport {
    /// Does nothing. This default is for transports that keep no connections.
    package func networkChanged() {}
}

/// The reason why an exchange ended without a complete response.
package struct HTTPTransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. The retry rules depend only on this value.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case cancelled
        case nameNotResolved
        case connectionFailed
        /// The connection or the whole exchange took longer than `HTTPLimits` allows.
        case timedOut
        /// The connection ended or was reset before the response was complete.
        case connectionLost
        /// The server's certificate could not be verified. The certificate is for another host, comes from an unknown
        /// issuer, or isn't valid now.
        case certificateNotTrusted
        /// The TLS connection failed for a reason other than the certificate.
        case tlsFailed
        case responseTooLarge
        /// The response was not HTTP.
        case malformedResponse
        /// The body of the response can't be decoded. The server compressed it, although compression is never
        /// requested.
        case unknownContentEncoding
        /// The transport itself failed, for example because a certificate file can't be read.
        case transportFailed
    }

    package let code: Code
    /// A description of the failure, which contains no header or body.
    package let detail: ReportedText
    /// The reason why the certificate isn't trusted; `nil` if it is unknown, and for any other code than
    /// `.certificateNotTrusted`.
    package let certificateFault: CertificateFault?
    /// The reason why the TLS connection failed; `nil` if it is unknown, and for any other code than `.tlsFailed`.
    package let tlsFault: TLSFault?
    /// The reason why the proxy failed; `nil` if no proxy is configured, or if the proxy didn't cause the failure.
    package let proxyFault: ProxyFault?
    /// The bytes transferred by the failed exchange.
    package let traffic: HTTPTraffic
    /// The address family of the failed connection and that of the next, such as "over IPv6; IPv4 is next". `nil` if
    /// the failure has nothing to do with address families. `detail` also contains this text, unless the exchange was
    /// cancelled.
    package let route: ReportedText?

    package init(
        _ code: Code, _ detail: ReportedText, certificateFault: CertificateFault? = nil, tlsFault: TLSFault? = nil,
        proxyFault: ProxyFault? = nil, traffic: HTTPTraffic = HTTPTraffic(), route: ReportedText? = nil
    ) {
        self.code = code
        self.proxyFault = proxyFault
        self.certificateFault = certificateFault
        self.tlsFault = tlsFault
        self.traffic = traffic
        self.route = route
        self.detail = if let route, code != .cancelled { "\(detail) (\(route))" } else { detail }
    }

    package var description: String { detail.description }
}

/// The sizes of a request and its response, as counted by libcurl. They include headers, but not the framing of TLS and
/// TCP.
package struct HTTPTraffic: Sendable, Hashable {
    package var bytesSent: Int
    package var bytesReceived: Int

    package init(bytesSent: Int = 0, bytesReceived: Int = 0) {
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }
}
