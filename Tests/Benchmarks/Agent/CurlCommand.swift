import FoundationEssentials

/// The curl command, as the limit of what libcurl can do with nothing around it.
enum CurlCommand {
    /// MiB that it holds while it waits for an answer over TLS, trusting the same authorities as the service;
    /// `nil` where it is not installed.
    static func resident(_ front: NginxFront) async throws -> Double? {
        guard let curl = try? SpawnedProgram(["curl", "--silent", "--cacert", front.caFile, front.slowAddress]) else {
            return nil
        }
        // It has settled once the figure no longer grows.
        var before = 0.0
        while true {
            try await Task.sleep(for: .milliseconds(300))
            let now = try ProcessFigures.memory("VmRSS", of: curl.processID)
            if now == before { return now }
            before = now
        }
    }

    /// Sends the same request `count` times on one connection; false where curl is not installed or fails.
    static func send(
        _ body: [UInt8], headers: [String], to address: String, count: Int, caFile: String, in workplace: Workplace
    ) throws -> Bool {
        let bodyFile = workplace.path("curl.body")
        try Data(body).write(to: URL(filePath: bodyFile))
        let request = ["url = \"\(address)\"", "output = \"/dev/null\""]
        let settings =
            ["silent", "http2", "request = \"PUT\"", "cacert = \"\(caFile)\"", "data-binary = \"@\(bodyFile)\""]
            + headers.map { "header = \"\($0)\"" } + Array(repeating: request, count: count).joined()
        let file = workplace.path("curl.settings")
        try Data(settings.joined(separator: "\n").utf8).write(to: URL(filePath: file))
        guard let curl = try? SpawnedProgram(["curl", "--config", file]) else { return false }
        return curl.wait() == 0
    }
}
