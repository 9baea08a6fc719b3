import FoundationEssentials
import Testing
import WaypostTestSupport

/// An `https` server that floods its clients with HTTP/2 frames. It is written in Python, which includes TLS.
struct FloodServer: Sendable {
    /// Whether python3 and openssl are installed.
    static let isAvailable =
        FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")
        && TestCertificates.areAvailable

    /// The file of the authority to trust.
    let caFile: String
    let url: String
    private let program: RunningProgram
    private let directory: TemporaryDirectory

    /// Starts the server, which ends when this value is released.
    init(behaviour kind: String) async throws {
        directory = try TemporaryDirectory()
        try await TestCertificates.make(in: directory)
        let (certificate, key) = TestCertificates.serverCredentials(in: directory)
        let script = Fixtures.checkout.appending(path: "Tests/Faults/http2_flood.py").path
        program = try RunningProgram(["/usr/bin/python3", script, kind, certificate, key])
        let port = try #require(await program.output.line(saying: "port ")).text.dropFirst("port ".count)
        caFile = TestCertificates.caFile(in: directory)
        url = "https://localhost:\(port)/"
    }

    /// Whether the server reports `event`, a `connection` or a `request`, exactly `times` times.
    func hasCounted(_ times: Int, of event: String) async -> Bool {
        await wait(for: event, times: times) && program.output.lines.count { $0.text == event } == times
    }

    /// Waits until the server has reported `event` `times` times. Returns `false` if it ends before.
    func wait(for event: String, times: Int) async -> Bool {
        await program.output.line(saying: event, times: times) != nil
    }
}
