import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

/// `waypost token` with a client certificate, against Debian's nginx.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)), .serialized)
struct ClientCertificate {
    static let now = Int(Date().timeIntervalSince1970)

    @Test func isAcceptedByAnEndpointThatRequiresOne() async throws {
        let server = try await NginxServer(token: TestTokens.driver(vehicleID: "van-7", issuedAt: Self.now))
        let client = server.clientCertificate
        let pair = #""clientCertificateFile": "\#(client.certificate)", "clientKeyFile": "\#(client.key)""#
        let authority = #""caFile": "\#(server.caFile)""#
        let (page, _) = try await run(server, "\(authority), \(pair)", exit: 0)
        #expect(page.hasSuffix("ok       fits providers/p/vehicles/van-7\n"))

        let (_, refused) = try await run(server, authority, exit: 69)
        #expect(
            refused
                == "waypost: token endpoint https://localhost:\(server.mutualPort)/token answered 400: it requires "
                + "a client certificate; set authorization.clientCertificateFile and clientKeyFile\n")
        let (_, untrusted) = try await run(server, pair, exit: 69)
        #expect(untrusted.contains("its certificate is not trusted"))
        #expect(
            untrusted.hasSuffix(
                "; if the certificate authority is your own, add its certificate to authorization.caFile\n")
        )
    }

    @Test func rejectionsAreExplained() async throws {
        let server = try await NginxServer()
        let directory = try TemporaryDirectory()
        let certificate = server.clientCertificate.certificate
        let key = directory.path("key.pem")
        func words(_ key: String) async throws -> String {
            try await run(
                server,
                #""caFile": "\#(server.caFile)", "clientCertificateFile": "\#(certificate)", "clientKeyFile": "\#(key)""#,
                exit: 78
            ).errors
        }
        try FileManager.default.copyItem(atPath: server.clientCertificate.key, toPath: key)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        #expect(
            try await words(key)
                == "waypost: authorization.clientKeyFile comes from the file \(key), which contains a secret and can be "
                + "read by every user; run chmod o= \(key)\n")
        let sealed = try await ChildProcess(
            arguments: [
                "/usr/bin/openssl", "pkcs8", "-topk8", "-in", server.clientCertificate.key, "-out",
                directory.path("sealed.pem"), "-passout", "pass:hush",
            ], timeLimit: BuiltProgram.hangs
        ).run()
        #expect(sealed.ending == .exited(0))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory.path("sealed.pem"))
        #expect(
            try await words(directory.path("sealed.pem")).contains(
                "sealed.pem has a pass phrase, which a service can't enter; write the key without one (openssl pkey ")
        )
        #expect(
            try await words(directory.path("none"))
                == "waypost: authorization.clientKeyFile comes from the file \(directory.path("none")), which can't be read: "
                + "No such file or directory; check the path, and the program that writes the file\n")
    }

    private func run(
        _ server: NginxServer, _ keys: String, exit: Int32
    ) async throws -> (page: String, errors: String) {
        let directory = try TemporaryDirectory()
        let config = try ServiceSetup(
            authorization: #"{"type": "http", "url": "https://localhost:\#(server.mutualPort)/token", \#(keys)}"#
        ).write(in: directory)
        let outcome = try await BuiltProgram.run(["token", "--config", config])
        let errors = String(decoding: outcome.standardError, as: UTF8.self)
        #expect(outcome.ending == .exited(exit), "\(errors)")
        return (String(decoding: outcome.standardOutput, as: UTF8.self), errors)
    }
}
