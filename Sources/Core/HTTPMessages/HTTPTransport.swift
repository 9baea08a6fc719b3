package import ReportedText

/// A transport that sends requests: the port that `CurlTransport` implements, and that tests replace.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and returns the answer. An answer with any status is a success, including redirects, which are
    /// never followed.
    ///
    /// Cancelling the task ends the exchange at once with `.cancelled`.
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse

    /// Notifies the transport that the route to the network has changed. Idle connections may be dead and aren't
    /// reused. An exchange that is still connecting fails with `.connectionFailed`.
    func networkChanged()
}

extension HTTPTransport {
    /// Does nothing, because a transport without connections has nothing to close.
    package func networkChanged() {}
}

/// The reason why an exchange gave no complete answer.
package struct HTTPTransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure. The retry rules depend on nothing else.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        case cancelled
        case nameNotResolved
        case connectionFailed
        /// The connection or the whole exchange took longer than `HTTPLimits` allows.
        case timedOut
        /// The connection ended or was reset before the answer was complete.
        case connectionLost
        /// The server's certificate could not be verified: it has the wrong host or an unknown issuer, or isn't valid
        /// at present.
        case certificateNotTrusted
        /// The TLS connection failed for another reason.
        case tlsFailed
        case responseTooLarge
        /// The answer was not HTTP.
        case malformedResponse
        /// The answer's body was compressed in a way that can't be decoded. Compression is never requested.
        case unknownContentEncoding
        /// The transport itself failed, for example because a certificate file can't be read.
        case transportFailed
    }

    /// The fault of an untrusted certificate, for the operator. The retry rules don't depend on it.
    package enum CertificateFault: Sendable, Hashable { case outsideItsTime, ofAnotherName, ofUnknownAuthority }

    /// The failure of a configured proxy.
    package enum ProxyFault: Sendable, Hashable, CaseIterable {
        /// The proxy didn't answer: its name is unknown, or the connection or TLS failed, or there was a timeout.
        case unreachable
        /// The proxy requires a user and password, but none are configured.
        case loginRequired
        case loginRejected
        /// The proxy's rules don't allow the server.
        case serverForbidden
        /// The proxy could not connect to the server.
        case serverUnreachable
        /// The proxy doesn't support tunnels, or isn't a proxy.
        case notAProxy
        /// A captive portal answered instead of the proxy.
        case intercepted
        case refused
    }

    package let code: Code
    /// A description of the failure, which contains no header or body.
    package let detail: ReportedText
    /// The certificate's fault; set only for `.certificateNotTrusted`, and only if the fault is known.
    package let certificateFault: CertificateFault?
    /// The proxy's fault; `nil` if no proxy is configured, or if it isn't the cause.
    package let proxyFault: ProxyFault?
    /// The remedy of a proxy's fault.
    package let remedy: ReportedText?
    /// The bytes transferred by the failed exchange.
    package let traffic: HTTPTraffic
    /// The address families of this connection and of the next, such as "over IPv6; IPv4 is next"; `nil` if they have
    /// nothing to do with the failure. Also part of `detail`, unless the exchange was cancelled.
    package let route: ReportedText?

    package init(
        _ code: Code, _ detail: ReportedText, certificateFault: CertificateFault? = nil,
        proxyFault: ProxyFault? = nil, remedy: ReportedText? = nil, traffic: HTTPTraffic = HTTPTraffic(),
        route: ReportedText? = nil
    ) {
        self.code = code
        self.proxyFault = proxyFault
        self.remedy = remedy
        self.certificateFault = certificateFault
        self.traffic = traffic
        self.route = route
        self.detail = if let route, code != .cancelled { "\(detail) (\(route))" } else { detail }
    }

    package var description: String { remedy.map { "\(detail); \($0)" } ?? detail.description }
}

/// The sizes of a request and its answer as counted by libcurl: with headers, without TLS and TCP framing.
package struct HTTPTraffic: Sendable, Hashable {
    package var bytesSent: Int
    package var bytesReceived: Int

    package init(bytesSent: Int = 0, bytesReceived: Int = 0) {
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }
}
