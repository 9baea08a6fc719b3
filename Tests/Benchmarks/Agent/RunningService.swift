import FoundationEssentials
import Glibc
import LinuxPlatform
import WaypostTestSupport

/// `waypost run`, started as the service manager does.
struct RunningService {
    /// The settings for a case; all others have their defaults.
    struct Settings {
        /// The name of the case and of the outbox's file.
        var name: String
        var device: String
        var endpoint: String
        var tokenURL: String
        var intervalSeconds = 10
        var caFile: String?
    }

    let program: RunningProgram
    /// The service manager, which must live as long as the service.
    private let manager: NotifySocket
    /// The time from the start of the process until `READY=1`.
    let timeToReady: Duration

    init(_ settings: Settings, in workplace: Workplace) async throws {
        let configuration = workplace.path("\(settings.name).json")
        try Data(settings.json(in: workplace).utf8).write(to: URL(filePath: configuration))
        manager = try NotifySocket(at: "@waypost-benchmark-\(getpid())-\(UInt32.random(in: 0...(.max)))")
        program = try RunningProgram(
            [workplace.binary, "run", "--config", configuration], environment: ["NOTIFY_SOCKET": manager.path])
        guard let ready = await Self.readyMessage(from: manager, within: .seconds(20)) else {
            throw BenchmarkError("the service was not ready within 20 s: \(program.errors.text.suffix(500))")
        }
        timeToReady = program.startedAt.duration(to: ready.arrivedAt)
    }

    /// The end of the service's log.
    var logTail: Substring { program.errors.text.suffix(500) }

    private static func readyMessage(
        from manager: NotifySocket, within timeout: Duration
    ) async -> LineFlow.Line? {
        await withTaskGroup { group in
            group.addTask { await manager.messages.line(saying: "READY=1") }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// The ledger of the outbox, as in `waypost outbox list --json`.
    struct Ledger: Decodable {
        let accepted, delivered, pending: Int
    }

    func stop(_ settings: Settings, in workplace: Workplace) async throws -> Ledger {
        await program.terminate()
        let command = ["outbox", "list", "--json", "--config", workplace.path("\(settings.name).json")]
        let list = try await ChildProcess(arguments: [workplace.binary] + command).run()
        guard list.ending == .exited(0) else {
            throw BenchmarkError("outbox list failed: \(String(decoding: list.standardError, as: UTF8.self))")
        }
        return try JSONDecoder().decode(Ledger.self, from: Data(list.standardOutput))
    }
}

extension RunningService.Settings {
    fileprivate func json(in workplace: Workplace) -> String {
        """
        {
          "vehicle": { "providerId": "\(Workplace.provider)", "vehicleId": "\(Workplace.vehicle)" },
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
