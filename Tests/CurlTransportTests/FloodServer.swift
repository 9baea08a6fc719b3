import FoundationEssentials
import LinuxPlatform
import Testing
import WaypostTestSupport

/// A server for `https` that floods whoever asks it with HTTP/2 frames: Python's, which brings TLS along.
struct FloodServer: Sendable {
    /// Whether both programs are installed.
    static let isAvailable = ["/usr/bin/python3", "/usr/bin/openssl"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The authority to trust.
    let caFile: String
    let url: String
    private let program: RunningProgram
    private let folder: TemporaryFolder

    /// Starts it; it ends with the value.
    init(_ kind: String) async throws {
        folder = try TemporaryFolder()
        let (certificate, key) = (folder.path("server.pem"), folder.path("server.key"))
        let made = try await ChildProcess(
            arguments: [
                "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost", "-days", "1",
            ]
        ).run()
        try #require(made.ending == .exited(0), "\(String(decoding: made.standardError, as: UTF8.self))")
        let script = Fixtures.checkout.appending(path: "Tests/Faults/http2_flood.py").path
        program = try RunningProgram(["/usr/bin/python3", script, kind, certificate, key])
        let port = try #require(await program.output.line(saying: "port ")).text.dropFirst("port ".count)
        (caFile, url) = (certificate, "https://localhost:\(port)/")
    }

    /// Whether it tells of `event`, a `connection` or a `request`, so often, and no oftener.
    func counts(_ times: Int, of event: String) async -> Bool {
        await wait(for: event, times: times) && program.output.lines.count { $0.text == event } == times
    }

    /// Waits until it has told of `event` so often.
    func wait(for event: String, times: Int) async -> Bool {
        await program.output.line(saying: event, times: times) != nil
    }
}
