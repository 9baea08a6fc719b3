import GNSSReceiver
import LinuxPlatform
import LocationReporting
import Waypost

/// `waypost fixes`: NMEA in, fixes out.
struct FixesCommand {
    private let logs: [String]
    private let format: FixesFormat

    init(_ arguments: Arguments) throws(UsageError) {
        logs = arguments.operands.isEmpty ? ["-"] : arguments.operands
        let word = arguments.value("--format") ?? "jsonl"
        guard let format = FixesFormat(rawValue: word) else {
            let words = FixesFormat.allCases.map(\.rawValue).joined(separator: " or ")
            throw UsageError("--format is \(word); use \(words)", command: "fixes")
        }
        self.format = format
    }

    func run() async throws -> ExitStatus {
        let writer = FixWriter(format, flushesEachFix: StandardOutput.isTerminal || logs.contains("-"))
        var failure: FixSourceError?
        do throws(FixSourceError) {
            try await read(into: writer)
        } catch { failure = error }
        try await writer.finish()
        if let failure {
            guard failure.code != .cancelled else { return .done }
            throw AgentError(.inputData, failure.description)
        }
        if await writer.count == 0 {
            // No error: a receiver that never saw the sky gives such a log.
            let names = logs.map { $0 == "-" ? "standard input" : $0 }.joined(separator: ", ")
            Terminal.say(
                "waypost: no fix with a date in \(names); check that it is NMEA 0183 with RMC or ZDA sentences")
        }
        return .done
    }

    private func read(into writer: FixWriter) async throws(FixSourceError) {
        try await LogReceiver(paths: logs).run { event in
            if case .fix(let fix) = event { await writer.write(fix) }
        }
    }
}
