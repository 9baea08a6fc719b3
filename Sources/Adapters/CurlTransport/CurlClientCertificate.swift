/// A client certificate and its private key, each a PEM file.
package struct CurlClientCertificate: Sendable, Hashable {
    package var certificateFile: String
    package var keyFile: String

    package init(certificateFile: String, keyFile: String) {
        (self.certificateFile, self.keyFile) = (certificateFile, keyFile)
    }
}
