import FoundationEssentials
import WaypostTestSupport

/// The curl command, as the reference for libcurl alone.
enum CurlCommand {
    /// Returns curl's resident memory in MiB while it waits for an answer over TLS, with the same certificate
    /// authorities as the service; `nil` if curl or nginx isn't installed.
    static func residentMemory(whileWaitingFor endpoint: Endpoint) async throws -> Double? {
        // The answer from this path takes longer than any case.
        let address = endpoint.address + "/slow"
        guard let caFile = endpoint.caFile,
            let curl = try? RunningProgram(["curl", "--silent", "--cacert", caFile, address])
        else { return nil }
        // Startup is over once the memory no longer grows.
        var before = 0.0
        while true {
            try await Task.sleep(for: .milliseconds(300))
            let now = try ProcessFigures.memory("VmRSS", of: curl.processID)
            if now == before { return now }
            before = now
        }
    }

    /// Sends the same request `count` times on one connection. Returns `false` if curl isn't installed or fails.
    static func send(
        _ body: [UInt8], headers: [String], to address: String, count: Int, caFile: String, in workplace: Workplace
    ) async throws -> Bool {
        let bodyFile = workplace.path("curl.body")
        try Data(body).write(to: URL(filePath: bodyFile))
        let request = ["url = \"\(address)\"", "output = \"/dev/null\""]
        let settings =
            ["silent", "http2", "request = \"PUT\"", "cacert = \"\(caFile)\"", "data-binary = \"@\(bodyFile)\""]
            + headers.map { "header = \"\($0)\"" } + Array(repeating: request, count: count).joined()
        let file = workplace.path("curl.settings")
        try Data(settings.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        return await (try? RunningProgram(["curl", "--config", file]))?.end() == .exited(0)
    }
}
