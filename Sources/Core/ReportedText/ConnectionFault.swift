/// The reason why a certificate isn't trusted.
package enum CertificateFault: Sendable, Hashable { case notValidNow, otherHostName, unknownAuthority }

/// The reason why a TLS connection failed, apart from the server's certificate.
package enum TLSFault: Sendable, Hashable {
    /// The server requested a client certificate, and then ended the connection.
    case certificateRequested
    /// The server supports no TLS version that this client supports.
    case noCommonVersion
}

/// The reason why no connection was made through a configured proxy. It contains only facts, which `Conditions` turns
/// into text.
package struct ProxyFault: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// The proxy answered the request for a tunnel with this HTTP status.
        case answered(status: Int)
        case nameNotResolved, notConnected, timedOut, untrustedCertificate, tlsFailed, connectionLost, notAProxy
        /// The proxy requested a client certificate, and then ended the connection.
        case certificateRequested
        /// A SOCKS proxy rejected the login or the connection.
        case rejected
        /// A SOCKS proxy could not connect to the server.
        case serverNotReached
    }

    package let cause: Cause
    /// The proxy's scheme, host and port, and the server's host and port.
    package let origin, server: String
    /// The configuration key of the proxy, such as `upload.proxy`.
    package let key: String
    /// Whether a user and password are configured.
    package let hasLogin: Bool

    package init(_ cause: Cause, origin: String, key: String, hasLogin: Bool, server: String) {
        self.cause = cause
        self.origin = origin
        self.key = key
        self.hasLogin = hasLogin
        self.server = server
    }
}

/// The reason why an exchange ended without a complete answer. It contains only facts, which `Conditions` turns into
/// text. `message` is the transport's own message.
package enum TransferFault: Sendable, Hashable {
    case cancelled, transportClosed, networkChanged
    case nameNotResolved
    case notConnected(reason: ReportedText)
    case connectionTimedOut(limit: Duration, message: ReportedText)
    case answerTimedOut(limit: Duration)
    case untrustedCertificate(message: ReportedText)
    case tlsFailed(message: ReportedText)
    case certificateRequested, noCommonTLSVersion
    /// `message` is `nil` if it adds nothing to the fault.
    case connectionLost(message: ReportedText?)
    /// The server rejected the request before it read it.
    case requestUnread
    case notHTTP(message: ReportedText)
    /// The server sent data without end.
    case endlessAnswer
    case headerTooLarge(limit: Int), bodyTooLarge(limit: Int)
    /// The answer has a Content-Encoding that was not requested and is unknown.
    case unknownEncoding
    case unusableClientCertificate(message: ReportedText)
    case unreadableAuthorities(message: ReportedText)
    case unusableHeaderName
    case unusableHeaderValue(name: String)
    /// libcurl could not be initialised, had no memory, or rejected the transfer.
    case transportUnavailable, outOfMemory, transferRejected
    case settingRejected(message: ReportedText)
    /// Any other failure, with the number by which libcurl identifies it.
    case other(message: ReportedText, number: Int)
}

extension TransferFault {
    package init(_ fault: TLSFault) {
        switch fault {
        case .certificateRequested: self = .certificateRequested
        case .noCommonVersion: self = .noCommonTLSVersion
        }
    }
}
