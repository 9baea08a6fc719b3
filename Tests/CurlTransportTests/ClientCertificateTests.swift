import CurlTransport
import Testing
import WaypostTestSupport

/// Whether a client certificate is usable, checked without a server.
@Suite(.enabled(if: TestCertificates.areAvailable, "openssl is needed")) struct ClientCertificates {
    @Test func areUsableOnlyWithTheirOwnKey() async throws {
        let directory = try TemporaryDirectory()
        try await TestCertificates.make(in: directory)
        let client = TestCertificates.clientCredentials(in: directory)
        func isUsable(certificate: String, key: String) -> Bool {
            CurlClientCertificate(certificateFile: certificate, keyFile: key).isUsable
        }
        #expect(isUsable(certificate: client.certificate, key: client.key))
        #expect(!isUsable(certificate: client.certificate, key: TestCertificates.serverCredentials(in: directory).key))
        #expect(!isUsable(certificate: client.key, key: client.certificate))
        let damaged = try directory.write(
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".utf8, to: "damaged")
        #expect(!isUsable(certificate: client.certificate, key: damaged))
    }
}
