import LinuxPlatform
import Operations

/// `waypost token`: fetches a token once and shows what it says, or prints it for another program.
struct TokenCommand {
    private let configuration: Configuration
    private let trip: String?
    private let isRaw: Bool

    init(_ arguments: Arguments) throws {
        trip = arguments.value("--trip")
        isRaw = arguments.has("--raw")
        guard isRaw || !arguments.has("--force") else {
            throw UsageError("--force is for --raw alone", command: "token")
        }
        // Whoever holds a token can use it until it expires, and a terminal is looked at, scrolled back and recorded.
        if isRaw, StandardOutput.isTerminal, !arguments.has("--force") {
            throw UsageError(
                "token --raw would show the token on this terminal; give it to a program (| or >), or add --force",
                command: "token")
        }
        configuration = try arguments.configuration()
    }

    func run() async throws -> ExitStatus {
        let report = try await TokenReport.fetch(configuration, trip: trip)
        if isRaw {
            try StandardOutput.write(line: report.rawToken)
            if let refusal = report.refusal { Terminal.say("waypost: \(refusal)") }
        } else {
            var last = ""
            for (name, text) in report.lines {
                let label = name == last ? "" : name
                try StandardOutput.write(verdict: label, "".filled(to: 9 - label.count) + text)
                last = name
            }
        }
        return report.refusal == nil ? .done : .failed
    }
}
