import Conditions
import FoundationEssentials
import Testing
import TimeAndRandomness
import Operations
import WaypostTestSupport

/// Checks of certificates at various times. The client's certificate is valid from 2020 to 2099, that of its authority
/// for one day.
@Suite(.enabled(if: TestCertificates.areAvailable, "openssl is needed"), .timeLimit(.minutes(1)))
struct CertificateFiles {
    private static let clientExpiry = UTCTime(year: 2099, month: 12, day: 31, millisecondOfDay: 86_399_000)
    private static let remedyStart = "replace it with a valid one, or, if today is not"

    @Test(arguments: [
        (clientExpiry.advanced(by: .seconds(-30 * 86_400)), nil),
        (
            clientExpiry.advanced(by: .seconds(1 - 30 * 86_400)),
            CheckLine(
                .note, "authorization", "expires on 2099-12-31T23:59:59Z, in 30 days: replace it before then")
        ),
        (
            clientExpiry.advanced(by: .seconds(-7200)),
            CheckLine(.note, "authorization", "expires on 2099-12-31T23:59:59Z, in 2 h: replace it before then")
        ),
        (
            clientExpiry.advanced(by: .seconds(1)),
            CheckLine(
                .fail, "authorization",
                "expired on 2099-12-31T23:59:59Z, so it is rejected: \(remedyStart) 2100-01-01, set this machine's "
                    + "clock")
        ),
        (
            UTCTime(year: 1970, month: 1, day: 1),
            CheckLine(
                .fail, "authorization",
                "is not valid before 2020-01-01T00:00:00Z: \(remedyStart) 1970-01-01, set this machine's clock")
        ),
    ])
    func areJudgedByTheCurrentTime(now: UTCTime, line: CheckLine?) async throws {
        let directory = try TemporaryDirectory()
        try await TestCertificates.make(in: directory)
        let (certificate, key) = TestCertificates.clientCredentials(in: directory)
        let lines = try checkLines(
            forProviderKeys: #""clientCertificateFile": "\#(certificate)", "clientKeyFile": "\#(key)""#, at: now)
        let expected = line.map {
            CheckLine(
                $0.verdict, $0.name,
                "authorization.clientCertificateFile \(certificate) contains a certificate that \($0.text)",
                code: $0.verdict == .fail ? .tokenEndpointTLS : nil)
        }
        #expect(lines.filter { $0.name == "authorization" } == [expected].compactMap { $0 })
    }

    /// A file may hold several authorities. If one of them is valid, servers can be trusted.
    @Test func areJudgedByTheAuthorityThatExpiresLast() async throws {
        let directory = try TemporaryDirectory()
        try await TestCertificates.make(in: directory)
        let now = UTCTime(year: 2030, month: 1, day: 1)
        func findings(_ names: [String]) throws -> [CheckLine] {
            let file = directory.path("authorities.pem")
            let parts = try names.map { try Data(contentsOf: URL(filePath: directory.path($0))) }
            try directory.write(parts.joined(), to: "authorities.pem")
            return try checkLines(forProviderKeys: #""caFile": "\#(file)""#, at: now).filter { $0.text.contains(file) }
        }
        #expect(try findings(["expired.pem", "client.pem", "ca.pem"]) == [])
        let lines = try findings(["ca.pem", "expired.pem"])
        #expect(lines.map(\.verdict) == [.fail])
        // The later expiry is reported, not that of expired.pem in 2020.
        #expect(lines.first?.text.contains("contains a certificate that expired on 20") == true, "\(lines)")
        #expect(lines.first?.text.contains("2020-01-02") == false, "\(lines)")
    }

    private func checkLines(forProviderKeys keys: String, at now: UTCTime) throws -> [CheckLine] {
        let http = #"{"type": "http", "url": "https://b.internal/{vehicleId}", \#(keys)}"#
        let configuration = try Configurations.read(
            Configurations.smallest.replacing(#"{"type": "file", "path": "/run/token"}"#, with: http))
        return OfflineCheck.lines(configuration, at: now)
    }
}
