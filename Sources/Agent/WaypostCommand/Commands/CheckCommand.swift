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
        try StandardOutput.write(line: "ok    configuration  \(path) is complete: \(configuration.vehicle)")
        if configuration.expectedUser != EffectiveUser.current {
            try StandardOutput.write(
                line: "note  outbox         \(configuration.outbox.path) lies in a folder of "
                    + "\(FileStatus.words(configuration.expectedUser)), who must run the service")
        }
        if let window = configuration.outbox.durability.window {
            try StandardOutput.write(
                line: "note  durability     economy: a crash may lose the updates of the last "
                    + "\(window.span.spoken), \(window.updates) at most; \"full\" loses none")
        }
        guard isOnline else { return .done }
        var hasFailed = false
        var hasToken = false
        for check in OnlineCheck.allCases {
            if check == .fleetEngine, !hasToken {
                try StandardOutput.write(line: "skip  Fleet Engine   not asked: there is no token")
                continue
            }
            let finding = await check.run(configuration)
            hasFailed = hasFailed || !finding.isGood
            if check == .token { hasToken = finding.isGood }
            let name = check.rawValue + String(repeating: " ", count: 13 - check.rawValue.count)
            try StandardOutput.write(line: "\(finding.isGood ? "ok  " : "FAIL")  \(name)  \(finding.text)")
        }
        if let finding = await TripTokenCheck.run(configuration) {
            let (verdict, text) =
                switch finding {
                case .good(let text): ("ok  ", text)
                case .open(let text): ("note", text)
                case .bad(let text): ("FAIL", text)
                }
            if case .bad = finding { hasFailed = true }
            try StandardOutput.write(line: "\(verdict)  trip token     \(text)")
        }
        return hasFailed ? .unavailable : .done
    }
}
