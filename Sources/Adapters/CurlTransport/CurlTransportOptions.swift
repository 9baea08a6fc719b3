/// What holds for every request of one `CurlTransport`.
///
/// There is no switch that turns certificate verification off, and no proxy is taken from the environment.
package struct CurlTransportOptions: Sendable, Hashable {
    /// What `User-Agent` says, as `waypost/1.2.0`.
    package var userAgent: String
    /// Authorities to trust instead of the system's: a PEM file. `nil` trusts the system's.
    package var caFile: String?
    /// A client certificate, for backends that ask for one.
    package var clientCertificate: CurlClientCertificate?
    /// How many connections to one server may be open at once; HTTP/2 needs one.
    package var maximumConnectionsPerHost: Int

    package init(
        userAgent: String, caFile: String? = nil, clientCertificate: CurlClientCertificate? = nil,
        maximumConnectionsPerHost: Int = 16
    ) {
        self.userAgent = userAgent
        self.caFile = caFile
        self.clientCertificate = clientCertificate
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
    }
}
