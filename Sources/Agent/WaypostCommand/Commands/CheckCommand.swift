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
        try configuration.prove()
        try StandardOutput.write(verdict: "ok", "    configuration  \(path) is complete: \(configuration.vehicle)")
        if configuration.expectedUser != EffectiveUser.current {
            try StandardOutput.write(
                verdict: "note",
                "  outbox         \(configuration.outbox.path) lies in a folder of "
                    + "\(FileStatus.words(configuration.expectedUser)), who must run the service")
        }
        if let window = configuration.outbox.durability.window {
            try StandardOutput.write(
                verdict: "note",
                "  durability     economy: a crash may lose the updates of the last "
                    + "\(window.span.spoken), \(window.updates) at most; \"full\" loses none")
        }
        guard isOnline else { return .done }
        var hasFailed = false
        var hasToken = false
        for check in OnlineCheck.allCases {
            if check == .fleetEngine, !hasToken {
                try StandardOutput.write(verdict: "skip", "  Fleet Engine   not asked: there is no token")
                continue
            }
            let finding = await check.run(configuration)
            hasFailed = hasFailed || !finding.isGood
            if check == .token { hasToken = finding.isGood }
            let name = check.rawValue + String(repeating: " ", count: 13 - check.rawValue.count)
            try StandardOutput.write(
                verdict: finding.isGood ? "ok" : "FAIL",
                "\(finding.isGood ? "    " : "  ")\(name)  \(finding.text)")
        }
        return hasFailed ? .unavailable : .done
    }
}
