import FoundationEssentials
import Glibc
import LinuxPlatform
import Testing
import WaypostTestSupport

@testable import Waypost

/// Certificate files that are replaced under the same names while the service runs.
@Suite(
    .enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(2)), .serialized)
struct ReplacedFiles {
    private let bench: ServiceBench
    private let receiver: PluggedReceiver

    init() throws {
        bench = try ServiceBench()
        receiver = try PluggedReceiver(link: bench.devicePath)
    }

    /// Replaces the configured file `name` with a copy of `source` in one step, as `mv` does.
    private func install(_ source: String, as name: String) throws {
        try FileManager.default.copyItem(atPath: source, toPath: bench.directory.path(name + ".new"))
        try FileSystem.rename(bench.directory.path(name + ".new"), to: bench.directory.path(name))
    }

    /// Starts a service with another party's authority, certificate and key, for a server that requires the right ones.
    private func startService(
        for server: NginxServer, port: UInt16, usesClientCertificate: Bool, hasAuthorities: Bool = true
    ) async throws -> RunningProgram {
        let others = try TemporaryDirectory()
        try await TestCertificates.make(in: others)
        if hasAuthorities {
            try install(usesClientCertificate ? server.caFile : TestCertificates.caFile(in: others), as: "ca.pem")
        }
        try install(TestCertificates.clientCredentials(in: others).certificate, as: "van.pem")
        try install(TestCertificates.clientCredentials(in: others).key, as: "van.key")
        let directory = bench.directory
        let pair =
            usesClientCertificate
            ? #", "clientCertificateFile": "\#(directory.path("van.pem"))", "clientKeyFile": "\#(directory.path("van.key"))""#
            : ""
        let service = try bench.start {
            $0.authorization = """
                {"type": "http", "url": "https://localhost:\(port)/token", "caFile": "\(directory.path("ca.pem"))"\(pair)}
                """
            $0.endpoint = "https://localhost:\(server.port)\", \"caFile\": \"\(directory.path("ca.pem"))"
        }
        try #require(await service.errors.line(saying: "waiting for the first sentence") != nil)
        try receiver.send(try #require(RecentDrive(epochs: 1).first { _ in true }))
        return service
    }

    private func makeServer() async throws -> NginxServer {
        try await NginxServer(
            token: TestTokens.driver(vehicleID: "van-7", issuedAt: Int(Date().timeIntervalSince1970)),
            answer: #"{"name":"providers/p/vehicles/van-7"}"#)
    }

    @Test func areLookedForEveryTenSeconds() { #expect(ConfigurationReload.lookInterval == .seconds(10)) }

    /// Positions are stored until the files exist.
    @Test func missingAuthoritiesAreUsedOnceTheyExist() async throws {
        let server = try await makeServer()
        let service = try await startService(
            for: server, port: server.port, usesClientCertificate: false, hasAuthorities: false)
        let line = try #require(await service.errors.line(saying: "no secure connection to the token issuer")).text
        #expect(line.contains("authorization.caFile \(bench.directory.path("ca.pem")) cannot be read"), "\(line)")
        try #require(await service.errors.line(saying: "accepted update 1") != nil)
        try install(server.caFile, as: "ca.pem")
        #expect(await service.errors.line(saying: "certificate files replaced") != nil)
        #expect(await service.errors.line(saying: "delivered 1 update in ") != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    @Test(arguments: [true, false]) func replacedAuthoritiesAreUsed(isReloadRequested: Bool) async throws {
        let server = try await makeServer()
        let service = try await startService(for: server, port: server.port, usesClientCertificate: false)
        try #require(await service.errors.line(saying: "its certificate is not trusted") != nil)
        try install(server.caFile, as: "ca.pem")
        if isReloadRequested { service.signal(SIGHUP) }
        let words = isReloadRequested ? "configuration reloaded" : "certificate files replaced"
        #expect(await service.errors.line(saying: words) != nil)
        #expect(await service.errors.line(saying: "delivered 1 update in ") != nil)
        #expect(await service.terminate().ending == .exited(0))
    }

    /// A certificate without its key is not used, because the key may follow a moment later.
    @Test(arguments: [true, false]) func replacedClientFilesAreUsedAsAMatchingPair(isReloadRequested: Bool) async throws
    {
        let server = try await makeServer()
        let service = try await startService(for: server, port: server.mutualPort, usesClientCertificate: true)
        try #require(await service.errors.line(saying: "token endpoint ") != nil)
        try install(server.clientCertificate.certificate, as: "van.pem")
        if isReloadRequested { service.signal(SIGHUP) }
        let words = "reload rejected"
        let line = try #require(await service.errors.line(saying: words)).text
        let key = bench.directory.path("van.key")
        #expect(line.contains("authorization.clientKeyFile \(key) does not match"), "\(line)")
        try install(server.clientCertificate.key, as: "van.key")
        if isReloadRequested { service.signal(SIGHUP) }
        #expect(await service.errors.line(saying: "delivered 1 update in ") != nil)
        #expect(service.errors.text.split(separator: words).count == 2)
        #expect(await service.terminate().ending == .exited(0))
    }
}
