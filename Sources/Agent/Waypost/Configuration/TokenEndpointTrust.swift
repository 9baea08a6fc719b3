/// Whom to trust, and as whom to appear, at a token endpoint: PEM files.
package struct TokenEndpointTrust: Sendable, Hashable {
    package var caFile: String?
    package var clientCertificateFile: String?
    package var clientKeyFile: String?
}

extension TokenEndpointTrust {
    init(_ section: inout ConfigurationSection) {
        caFile = section.optionalString("caFile")
        clientCertificateFile = section.optionalString("clientCertificateFile")
        clientKeyFile = section.optionalString("clientKeyFile")
        if (clientCertificateFile == nil) != (clientKeyFile == nil) {
            section.report(
                clientKeyFile == nil ? "clientKeyFile" : "clientCertificateFile",
                "is missing; a client certificate needs both its file and its key's file")
        }
    }
}
