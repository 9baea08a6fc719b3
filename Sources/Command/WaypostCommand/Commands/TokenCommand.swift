import LinuxPlatform
import Operations

/// `waypost token`: fetches a token and shows its contents, or prints the token for another program.
struct TokenCommand {
    private let configuration: Configuration
    private let trip: String?
    private let isRaw: Bool

    init(_ arguments: Arguments) throws {
        trip = arguments.value("--trip")
        isRaw = arguments.has("--raw")
        guard isRaw || !arguments.has("--force") else {
            throw UsageError("--force needs --raw", command: "token")
        }
        // The token must not appear on a terminal by accident. Others may see it there, in the scrollback or in a
        // recording, and anyone can use a token until it expires.
        if isRaw, StandardOutput.isTerminal, !arguments.has("--force") {
            throw UsageError(
                "token --raw would show the token on this terminal; pipe or redirect it (| or >), or add --force",
                command: "token")
        }
        configuration = try arguments.configuration()
    }

    func run() async throws -> ExitStatus {
        let report = try await TokenReport.fetch(configuration, trip: trip)
        if isRaw {
            try StandardOutput.write(line: report.rawToken)
            if let reason = report.rejectionReason { Terminal.say("waypost: \(reason)") }
        } else {
            var last = ""
            for (name, text) in report.lines {
                let label = name == last ? "" : name
                try StandardOutput.write(verdict: label, "".padded(to: 9 - label.count) + text)
                last = name
            }
        }
        return report.rejectionReason == nil ? .done : .failed
    }
}
