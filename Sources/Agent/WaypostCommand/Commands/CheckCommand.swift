import LinuxPlatform
import Waypost

/// `waypost check`: proves a configuration before the vehicle leaves.
struct CheckCommand {
    private let path: String
    private let configuration: Configuration
    private let isOnline: Bool

    init(_ arguments: Arguments) throws {
        path = arguments.configurationFile
        isOnline = arguments.has("--online")
        configuration = try arguments.configuration()
    }

    func run() async throws -> ExitStatus {
        let lines = await onThread(named: "check") { [configuration] in OfflineCheck.lines(configuration) }
        let isComplete = !lines.contains { $0.verdict == .fail }
        if isComplete {
            try write(CheckLine(.ok, "configuration", "\(path) is complete: \(configuration.vehicle)"))
        }
        for line in lines { try write(line) }
        guard isOnline else { return isComplete ? .done : .badConfiguration }
        var isAvailable = true
        var missing = OnlineCheck.names(configuration)
        try await OnlineCheck.run(configuration, waits: Terminal.draw) { line in
            isAvailable = isAvailable && line.verdict != .fail
            missing.removeAll { $0 == line.name }
            try write(line)
        }
        Terminal.draw("")
        if Task.isCancelled, !missing.isEmpty {
            throw Interruption("not checked: \(missing.joined(separator: ", "))")
        }
        return !isComplete ? .badConfiguration : isAvailable ? .done : .unavailable
    }

    private func write(_ line: CheckLine) throws {
        Terminal.draw("")
        let verdict = line.verdict.rawValue
        try StandardOutput.write(
            verdict: verdict, "".filled(to: 6 - verdict.count) + "\(line.name.filled(to: 13))  \(line.text)")
    }
}
