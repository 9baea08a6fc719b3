import Conditions
import CurlTransport
import HTTPMessages
import ReportedText
import Testing
import WaypostTestSupport

/// Failures of TLS whose reason is only in the messages of the handshake, with OpenSSL's own server.
@Suite(.enabled(if: TestCertificates.areAvailable, "openssl is needed"), .timeLimit(.minutes(1)))
struct TLSFaults {
    /// With TLS 1.3, the server rejects the client after the handshake. Each attempt must have the same fault and text,
    /// whether or not libcurl reads the server's alert before the connection ends.
    @Test(
        arguments: [
            (["-tls1_3", "-Verify", "1"], .certificateRequested, false),
            (["-tls1_3", "-Verify", "1"], .certificateRequested, true),
            (["-tls1_2", "-Verify", "1"], .certificateRequested, false),
            (["-tls1_1", "-cipher", "ALL@SECLEVEL=0"], .noCommonVersion, false),
        ] as [([String], TLSFault, Bool)])
    func areTheSameAtEachAttempt(options: [String], fault: TLSFault, sendsCertificate: Bool) async throws {
        let directory = try TemporaryDirectory()
        let (program, port) = try await start(options, in: directory)
        defer { program.kill() }
        var curlOptions = CurlTransportOptions(
            userAgent: "waypost/test", caFile: TestCertificates.caFile(in: directory))
        if sendsCertificate {
            let client = TestCertificates.clientCredentials(in: directory)
            curlOptions.clientCertificate = CurlClientCertificate(
                certificateFile: client.certificate, keyFile: client.key)
        }
        let transport = try CurlTransport(options: curlOptions)
        let request = HTTPRequest(.post, try HTTPURL("https://localhost:\(port)/token"), body: [1, 2, 3])
        for _ in 0..<5 {
            let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
            let text = error?.description ?? ""
            #expect(error?.code == .tlsFailed && error?.tlsFault == fault, "\(text)")
            #expect(text.hasPrefix("\(request.url.origin): \(TransferFault(fault).cause)"))
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"]) func ofAProxyAreToldFromThoseOfTheServer(version: String) async throws {
        let directory = try TemporaryDirectory()
        let (program, port) = try await start([version, "-Verify", "1"], in: directory)
        defer { program.kill() }
        var options = CurlTransportOptions(userAgent: "waypost/test", caFile: TestCertificates.caFile(in: directory))
        options.proxy = try HTTPProxy("https://localhost:\(port)")
        let request = HTTPRequest(.get, try HTTPURL("https://f.example/"))
        let transport = try CurlTransport(options: options)
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
        #expect(error?.proxyFault?.cause == .certificateRequested, "\(error?.description ?? "")")
    }

    /// The proxy has answered before the server ends the connection.
    @Test(.enabled(if: ProxyServer.areAvailable, "tinyproxy, microsocks and socat are needed"))
    func areRecognisedBehindAProxy() async throws {
        let directory = try TemporaryDirectory()
        let (program, port) = try await start(["-tls1_3", "-Verify", "1"], in: directory)
        defer { program.kill() }
        let server = try await ProxyServer(.http)
        var proxy = try HTTPProxy("http://127.0.0.1:\(server.port)")
        proxy.login = HTTPProxy.Login(user: ProxyServer.user, password: ProxyServer.password)
        var options = CurlTransportOptions(userAgent: "waypost/test", caFile: TestCertificates.caFile(in: directory))
        options.proxy = proxy
        let transport = try CurlTransport(options: options)
        let request = HTTPRequest(.get, try HTTPURL("https://localhost:\(port)/"))
        let error = await #expect(throws: HTTPTransportError.self) { try await transport.send(request) }
        #expect(error?.tlsFault == .certificateRequested, "\(error?.description ?? "")")
    }

    /// Starts a server that accepts only clients with a certificate. Returns the server and its port.
    private func start(
        _ options: [String], in directory: TemporaryDirectory
    ) async throws -> (program: RunningProgram, port: Substring) {
        try await TestCertificates.make(in: directory)
        let server = TestCertificates.serverCredentials(in: directory)
        let program = try RunningProgram(
            [
                "/usr/bin/openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", server.certificate, "-key",
                server.key, "-verify_return_error",
            ] + options)
        let line = try #require(await program.output.line(saying: "ACCEPT"))
        return (program, try #require(line.text.split(separator: ":").last))
    }
}
