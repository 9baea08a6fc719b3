import FoundationEssentials

/// `waypost run` as the service manager runs it.
struct RunningService {
    /// What a case sets; everything else is as delivered.
    struct Settings {
        /// Also the name of the outbox's file.
        var name: String
        var device: String
        var endpoint: String
        var tokenURL: String
        var intervalSeconds = 10
        var caFile: String?
    }

    let program: SpawnedProgram
    /// Kept, because the service goes on to speak to it.
    private let socket: NotifySocket
    /// From before the process existed to `READY=1`.
    let timeToReady: Duration

    init(_ settings: Settings, in workplace: Workplace) throws {
        let configuration = workplace.path("\(settings.name).json")
        try Data(settings.json(in: workplace).utf8).write(to: URL(filePath: configuration))
        socket = try NotifySocket()
        let start = ContinuousClock.now
        program = try SpawnedProgram(
            [workplace.binary, "run", "--config", configuration], environment: ["NOTIFY_SOCKET=\(socket.name)"],
            output: workplace.path("\(settings.name).log"))
        do { timeToReady = start.duration(to: try socket.waitUntilReady()) } catch {
            let log = try String(contentsOfFile: workplace.path("\(settings.name).log"), encoding: .utf8)
            throw BenchmarkError("\(error): \(log.suffix(500))")
        }
    }

    /// The account of the outbox, as `waypost outbox list --json` words it.
    struct Ledger: Decodable {
        let accepted, delivered, pending: Int
    }

    /// Stops the service and asks for its ledger.
    func stop(_ settings: Settings, in workplace: Workplace) throws -> Ledger {
        program.stop()
        let listing = workplace.path("\(settings.name).ledger")
        let list = try SpawnedProgram(
            [workplace.binary, "outbox", "list", "--json", "--config", workplace.path("\(settings.name).json")],
            output: listing)
        guard list.wait() == 0 else { throw BenchmarkError("outbox list failed; see \(listing)") }
        return try JSONDecoder().decode(Ledger.self, from: Data(contentsOf: URL(filePath: listing)))
    }
}

extension RunningService.Settings {
    fileprivate func json(in workplace: Workplace) -> String {
        """
        {
          "vehicle": { "providerId": "\(LoopbackFleetEngine.provider)", "vehicleId": "\(LoopbackFleetEngine.vehicle)" },
          "receiver": { "type": "serial", "device": "\(device)", "baudRate": 9600 },
          "authorization": { "type": "http", "url": "\(tokenURL)" },
          "reporting": { "intervalSeconds": \(intervalSeconds) },
          "upload": { "endpoint": "\(endpoint)", "backlogUpdatesPerSecond": 0\(caFile.map { ", \"caFile\": \"\($0)\"" } ?? "") },
          "outbox": { "path": "\(workplace.path(name)).sqlite", "maximumMegabytes": 1024 },
          "status": { "listen": "127.0.0.1:0" }
        }
        """
    }
}
