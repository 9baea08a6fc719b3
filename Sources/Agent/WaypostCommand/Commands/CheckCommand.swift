import LinuxPlatform
import SQLiteOutbox
import Waypost

/// `waypost check`: proves a configuration before the vehicle leaves.
struct CheckCommand {
    private let path: String
    private let configuration: Configuration
    private let isOnline: Bool

    init(_ arguments: Arguments) throws {
        path = arguments.value("--config") ?? ""
        isOnline = arguments.has("--online")
        configuration = try Configuration(file: path)
    }

    func run() async throws -> ExitStatus {
        let lines = await onThread(named: "check") { [configuration] in OfflineCheck.lines(configuration) }
        let isComplete = !lines.contains { $0.verdict == .fail }
        if isComplete {
            try write(CheckLine(.ok, "configuration", "\(path) is complete: \(configuration.vehicle)"))
        }
        for line in lines + notes { try write(line) }
        guard isOnline else { return isComplete ? .done : .badConfiguration }
        var isAvailable = true
        var missing = OnlineCheck.names
        try await OnlineCheck.run(configuration, waits: Terminal.draw) { line in
            isAvailable = isAvailable && line.verdict != .fail
            missing.removeAll { $0 == line.name }
            try write(line)
        }
        Terminal.draw("")
        if Task.isCancelled { throw Interruption("not checked: \(missing.joined(separator: ", "))") }
        return !isComplete ? .badConfiguration : isAvailable ? .done : .unavailable
    }

    /// What is worth knowing though nothing is wrong.
    private var notes: [CheckLine] {
        var notes: [CheckLine] = []
        if configuration.expectedUser != EffectiveUser.current {
            notes.append(
                CheckLine(
                    .note, "outbox",
                    "\(configuration.outbox.path) lies in a folder of \(FileStatus.words(configuration.expectedUser)), "
                        + "who must run the service"))
        }
        if let window = configuration.outbox.durability.window {
            notes.append(
                CheckLine(
                    .note, "durability",
                    "economy: a crash may lose the updates of the last \(window.span.spoken), \(window.updates) at most; "
                        + "\"full\" loses none"))
        }
        return notes
    }

    private func write(_ line: CheckLine) throws {
        Terminal.draw("")
        let verdict = line.verdict.rawValue
        try StandardOutput.write(
            verdict: verdict, "".filled(to: 6 - verdict.count) + "\(line.name.filled(to: 13))  \(line.text)")
    }
}
