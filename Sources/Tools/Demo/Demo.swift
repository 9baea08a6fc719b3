import FleetEngine
import FleetEngineSimulator
import GNSSReceiver
import HTTPMessages
package import LinuxPlatform
package import Operations
import ReceiverSimulator
package import Replay
import ReportedText
import Reporting

/// A demonstration: the simulator and a replay in one process, with a simulated outage in the middle of the drive.
package struct Demo: Sendable {
    /// The result of the demonstration.
    package struct Result: Sendable {
        package let text: String
        /// Whether every accepted update has arrived, and each last location was newer than the previous one.
        package let isCorrect: Bool
        /// The error that ended the replay; `nil` if the whole drive was played.
        package let failure: AgentError?
    }

    /// The duration of the replay, in seconds.
    private static let replaySeconds = 36.0

    package let replay: ReplayRun
    private let simulator: FleetEngineSimulator
    private let configuration: Configuration
    private let narrator: DemoNarrator
    /// The duration of a third of the replay.
    private let third: Duration

    /// The address of the simulator's page.
    package var page: String { simulator.baseURL.description }

    /// Prepares the demonstration and introduces it.
    ///
    /// - Parameters:
    ///   - log: the NMEA log to replay; `nil` for a simulated drive through town.
    ///   - address: the address of the simulator.
    ///   - directory: the directory for the outbox and the simulated drive.
    ///   - write: writes one or more lines for people to read.
    /// - Throws: `AgentError` if the simulator can't start, or the log can't be read.
    package init(
        log: String?, at address: LocalAddress, in directory: String, write: @escaping @Sendable (String) -> Void
    ) async throws {
        let drive = try log ?? Self.writeDrive(to: directory)
        simulator = try Self.makeSimulator(at: address)
        configuration = try Self.configuration(simulator: simulator, directory: directory)
        let length = try await LogReplay(paths: [drive], clock: ContinuousClock(), now: { .system }).survey().length
        let speed = max(1, (length / .seconds(1)) / Self.replaySeconds)
        third = length / speed / 3
        narrator = DemoNarrator(write: write)
        replay = try await ReplayRun(
            configuration, ReplayOptions(logs: [drive], speed: .times(speed)), observers: [narrator]
        ) { write("waypost: \($0)") }
        narrator.open(
            page: page, drive: log ?? "a simulated drive through town", length: length,
            speed: speed)
    }

    /// Runs the demonstration. Ends early if the task is cancelled, without a report.
    ///
    /// - Parameters:
    ///   - play: runs the replay to its end.
    ///   - report: reports the result; the simulator runs until it returns.
    /// - Throws: the error of `report`, or `OutboxError` if the outbox can't be read.
    package func run(
        playing play: (ReplayRun) async -> AgentError?, reporting report: (Result) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await simulator.run() }
            group.addTask { await simulateOutage() }
            defer { group.cancelAll() }
            let failure = await play(replay)
            guard !Task.isCancelled else {
                narrator.close()
                await replay.close()
                return
            }
            let result = try await result(after: failure)
            narrator.close()
            try await report(result)
        }
    }

    /// Makes Fleet Engine unreachable during the middle third of the replay.
    private func simulateOutage() async {
        let clock = MonotonicClock(ContinuousClock())
        await clock.sleep(for: third)
        guard !Task.isCancelled else { return }
        await simulator.beginOutage()
        narrator.narrateOutage(begins: true)
        await clock.sleep(for: third)
        await simulator.endOutage()
        guard !Task.isCancelled else { return }
        narrator.narrateOutage(begins: false)
    }

    /// Ends the replay, and compares the outbox's ledger with the positions that have arrived at the simulator.
    private func result(after failure: AgentError?) async throws -> Result {
        let summary = try await replay.summary().summary
        await replay.close()
        let vehicle = configuration.vehicle
        let record = await simulator.record.vehicles[
            ResourceName(provider: vehicle.providerID, service: vehicle.service, id: vehicle.vehicleID)]
        let arrived = record?.fixTimes.count ?? 0
        let isInOrder = record?.order.lastLocationsBackInTime == 0
        return Result(
            text: """

                \(summary.text)
                Fleet Engine holds \(arrived.counted("distinct position")) of \(vehicle.vehicleID); its last locations \
                arrived \(isInOrder ? "in order" : "OUT OF ORDER").
                """,
            isCorrect: summary.isComplete && Int64(arrived) == summary.ledger.accepted && isInOrder, failure: failure)
    }

    private static func makeSimulator(at address: LocalAddress) throws(AgentError) -> FleetEngineSimulator {
        var settings = SimulatorSettings()
        settings.address = address
        do { return try FleetEngineSimulator(settings) } catch { throw AgentError(.unavailable, error.description) }
    }

    private static func writeDrive(to directory: String) throws -> String {
        let path = directory + "/town.nmea"
        try FileReplacement(at: path).commit(GeneratedDrive(.town).sentences)
        return path
    }

    private static func configuration(
        simulator: FleetEngineSimulator, directory: String
    ) throws(ConfigurationError) -> Configuration {
        let text = """
            {
              "vehicle": { "providerId": "demo", "vehicleId": "van-7" },
              "receiver": { "type": "stdin" },
              "authorization": { "type": "http", "url": "\(simulator.tokenURL(for: .onDemandTrips))" },
              "reporting": { "intervalSeconds": 5 },
              "upload": {
                "endpoint": "\(simulator.baseURL.origin)",
                "retry": { "initialDelaySeconds": 0.2, "maximumDelaySeconds": 1 }
              },
              "outbox": { "path": "\(directory)/outbox.sqlite" },
              "log": { "level": "error" }
            }
            """
        return try Configuration(json: Array(text.utf8), file: "demo configuration")
    }
}
