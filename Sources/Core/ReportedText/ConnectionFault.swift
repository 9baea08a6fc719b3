/// The reason why a certificate isn't trusted.
package enum CertificateFault: Sendable, Hashable { case notValidNow, otherHostName, unknownAuthority }

/// The reason why no connection was made through a configured proxy. It contains only facts, which `Conditions` turns
/// into text.
package struct ProxyFault: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// The proxy answered the request for a tunnel with this HTTP status.
        case answered(status: Int)
        case nameNotResolved, notConnected, timedOut, untrustedCertificate, tlsFailed, connectionLost, notAProxy
        /// A SOCKS proxy rejected the login or the connection.
        case rejected
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
