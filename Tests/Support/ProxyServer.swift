import FoundationEssentials
import Glibc
import LinuxPlatform

/// A proxy from Debian on loopback that requires a user and password; killed when this object is released.
package final class ProxyServer: Sendable {
    package enum Kind: Sendable, CaseIterable {
        /// tinyproxy without TLS.
        case http
        /// tinyproxy, with socat in front for TLS.
        case https
        /// microsocks, a SOCKS server.
        case socks5h
    }

    package static let user = "van-7"
    package static let password = "hush-4711"

    /// Whether the programs are installed.
    package static let areAvailable = ["/usr/bin/tinyproxy", "/usr/bin/microsocks", "/usr/bin/socat"]
        .allSatisfy(FileManager.default.isExecutableFile)

    package let port: Int
    private let reservations: [LoopbackSocket]
    private let directory: TemporaryDirectory
    private let programs: [RunningProgram]

    /// The proxy's log.
    package var log: LineFlow { programs[0].output }

    /// The certificate of the authority that signed the certificate for `localhost` of a proxy with TLS.
    package var caFile: String { TestCertificates.caFile(in: directory) }

    /// Starts the proxy. tinyproxy rejects host names that match `forbidding`, a basic regular expression.
    package init(_ kind: Kind, port: Int? = nil, forbidding: String? = nil) async throws {
        reservations = try (0..<2).map { _ in try LoopbackSocket.reservation() }
        let innerPort = kind == .https ? reservations[1].port : port ?? reservations[0].port
        self.port = port ?? reservations[0].port
        directory = try TemporaryDirectory()
        guard kind != .socks5h else {
            let program = try RunningProgram([
                "/usr/bin/microsocks", "-i", "127.0.0.1", "-p", "\(innerPort)", "-u", Self.user, "-P", Self.password,
            ])
            programs = [program]
            await yieldTurns { (try? LoopbackSocket(.stream, connectedTo: innerPort)) != nil }
            return
        }
        var configuration = "Port \(innerPort)\nListen 127.0.0.1\nBasicAuth \(Self.user) \(Self.password)\n"
        if let forbidding {
            try directory.write((forbidding + "\n").utf8, to: "forbidden")
            configuration += "Filter \"\(directory.path("forbidden"))\"\n"
        }
        let file = try directory.write(configuration.utf8, to: "tinyproxy.conf")
        let program = try RunningProgram(["/usr/bin/tinyproxy", "-d", "-c", file])
        guard await program.output.line(saying: "Accepting connections") != nil else {
            throw SystemError(call: "start tinyproxy, which says \(program.output.text),", number: ECONNREFUSED)
        }
        guard kind == .https else {
            programs = [program]
            return
        }
        try await TestCertificates.make(in: directory)
        let server = TestCertificates.serverCredentials(in: directory)
        let socat = try RunningProgram([
            "/usr/bin/socat", "-d", "-d",
            "OPENSSL-LISTEN:\(self.port),bind=127.0.0.1,reuseaddr,fork,verify=0,cert=\(server.certificate),key=\(server.key)",
            "TCP:127.0.0.1:\(innerPort)",
        ])
        guard await socat.errors.line(saying: "listening on") != nil else {
            throw SystemError(call: "start socat, which says \(socat.errors.text),", number: ECONNREFUSED)
        }
        programs = [program, socat]
    }

    /// Ends the proxy; connections to its port are refused from now on.
    package func stop() {
        for program in programs { program.kill() }
    }
}
