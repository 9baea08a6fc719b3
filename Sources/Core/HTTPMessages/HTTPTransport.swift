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
        /// The connection or the whole exchange took longer than `HTTPLimits` allows.
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
        /// The answer's body was compressed in a way that can't be decoded; compression is never asked for.
        case unknownContentEncoding
        /// The transport itself failed: a certificate file that cannot be read, no memory.
        case transportFailed
    }

    /// What is wrong with a certificate that is not trusted, for whoever has to mend it; the retry rules ask nobody.
    package enum CertificateFault: Sendable, Hashable { case outsideItsTime, ofAnotherName, ofUnknownAuthority }

    /// What a configured proxy did instead of making a connection.
    package enum ProxyFault: Sendable, Hashable, CaseIterable {
        /// It gave no answer: no connection to it, an unknown name, no TLS, a time limit.
        case unreachable
        /// It requires a user and password, and none are configured.
        case loginRequired
        case loginRejected
        /// Its rules don't allow the server.
        case serverForbidden
        /// It got no connection to the server.
        case serverUnreachable
        /// It makes no tunnels, or isn't a proxy.
        case notAProxy
        /// A captive portal answered in its place.
        case intercepted
        case refused
    }

    package let code: Code
    /// What happened, in words, without any header or body.
    package let detail: ReportedText
    /// Of `.certificateNotTrusted`, as far as it is known.
    package let certificateFault: CertificateFault?
    /// `nil` if no proxy is configured, or if it isn't the cause.
    package let proxyFault: ProxyFault?
    /// What the failed exchange cost on the wire.
    package let traffic: HTTPTraffic
    /// Over which address family the connection was made, and which is next, such as "over IPv6; IPv4 is next";
    /// `nil` if that has nothing to do with the failure. Part of `detail` too, unless the exchange was cancelled.
    package let route: ReportedText?

    package init(
        _ code: Code, _ detail: ReportedText, certificateFault: CertificateFault? = nil,
        proxyFault: ProxyFault? = nil, traffic: HTTPTraffic = HTTPTraffic(), route: ReportedText? = nil
    ) {
        self.code = code
        self.proxyFault = proxyFault
        self.certificateFault = certificateFault
        self.traffic = traffic
        self.route = route
        self.detail = if let route, code != .cancelled { "\(detail) (\(route))" } else { detail }
    }

    package var description: String { detail.description }
}

/// Bytes of one exchange as libcurl counts them: request and answer with their headers, without TLS and TCP framing.
package struct HTTPTraffic: Sendable, Hashable {
    package var bytesSent: Int
    package var bytesReceived: Int

    package init(bytesSent: Int = 0, bytesReceived: Int = 0) {
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }
}
