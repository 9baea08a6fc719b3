import FoundationEssentials
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import CurlTransport

/// The validity of the certificates in a PEM file.
@Suite(.enabled(if: TestCertificates.areAvailable, "openssl is needed")) struct CertificateValidities {
    private static let begin = UTCTime(year: 2020, month: 1, day: 1)
    private static let client = CertificateValidity(
        begin: begin, end: UTCTime(year: 2099, month: 12, day: 31, millisecondOfDay: 86_399_000))
    private static let expired = CertificateValidity(begin: begin, end: UTCTime(year: 2020, month: 1, day: 2))

    @Test func areReadInTheOrderOfTheCertificates() async throws {
        let directory = try TemporaryDirectory()
        try await TestCertificates.make(in: directory)
        func bytes(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: directory.path(name))))
        }
        let client = try bytes("client.pem")
        let expired = try bytes("expired.pem")
        let key = try bytes("client.key")
        #expect(CertificateValidity.all(inPEM: client) == [Self.client])
        #expect(
            CertificateValidity.all(inPEM: Array("a comment\n".utf8) + expired + key + client) == [
                Self.expired, Self.client,
            ])
        #expect(CertificateValidity.all(inPEM: key) == [])
        #expect(CertificateValidity.all(inPEM: []) == [])
        let damaged = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
        #expect(CertificateValidity.all(inPEM: expired + damaged + client) == [Self.expired])
        // This certificate is cut off in the middle.
        #expect(CertificateValidity.all(inPEM: Array(client.dropLast(100))) == [])
    }
}
