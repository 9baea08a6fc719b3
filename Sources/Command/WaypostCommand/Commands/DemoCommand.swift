import Conditions
import FleetEngine
import FleetEngineSimulator
import GNSSReceiver
import HTTPMessages
import LinuxPlatform
import ReceiverSimulator
import Replay
import ReportedText
import Reporting
import TrackDrawing
import Operations

/// `waypost demo`: runs the simulator and a replay in one process, with a simulated outage in the middle of the drive.
struct DemoCommand {
    private let log: String?
    private let address: LocalAddress
    private let staysOpen: Bool

    /// The duration of the replay, in seconds.
    private static let replaySeconds = 36.0

    init(_ arguments: Arguments) throws {
        log = arguments.operands.first
        staysOpen = arguments.has("--keep-open")
        address = try arguments.address("--listen", default: "127.0.0.1:0", command: "demo")
    }

    func run() async throws -> ExitStatus {
        let directory = FileSystem.temporaryPath("waypost-demo")
        try FileSystem.createDirectory(at: directory)
        defer { FileSystem.removeDirectory(at: directory) }

        let drive = try log ?? Self.writeDrive(to: directory)
        let simulator = try makeSimulator()
        let configuration = try Self.configuration(simulator: simulator, directory: directory)
        let length = try await LogReplay(paths: [drive], clock: ContinuousClock(), now: { .system }).survey().length
        let speed = max(1, (length / .seconds(1)) / Self.replaySeconds)
        let options = ReplayOptions(logs: [drive], speed: .times(speed))
        let narrator = DemoNarrator(clock: MonotonicClock(ContinuousClock()))
        let replay = try await ReplayRun(configuration, options, observers: [narrator]) {
            Terminal.say("waypost: \($0)")
        }
        narrator.open(
            page: simulator.baseURL.description, drive: log ?? "a simulated drive through town", length: length,
            speed: speed)

        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await simulator.run() }
            group.addTask { await Self.simulateOutage(of: simulator, narrator: narrator, third: length / speed / 3) }
            let failure = await replay.run(showingProgress: Terminal.isInteractive)
            if Task.isCancelled {
                narrator.close()
                await replay.close()
                throw Interruption(replay.reached)
            }
            let status = try await printResult(
                of: replay, simulator: simulator, configuration: configuration, narrator: narrator)
            if let failure { throw failure }
            if staysOpen, !Task.isCancelled {
                Terminal.say("The page stays up at \(simulator.baseURL) until you press Control-C.")
                try? await Task.sleep(for: .seconds(86_400 * 365))  // Control-C cancels it, which isn't an error
            }
            group.cancelAll()
            return status
        }
    }

    /// Makes Fleet Engine unreachable during the middle third of the replay. `third` is the duration of one third.
    private static func simulateOutage(
        of simulator: FleetEngineSimulator, narrator: DemoNarrator, third: Duration
    ) async {
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

    /// Prints the summary and compares the outbox's ledger with the positions that have arrived at the simulator.
    /// Returns `failed` if they differ, or if a last location was older than the previous one.
    private func printResult(
        of replay: ReplayRun, simulator: FleetEngineSimulator, configuration: Configuration, narrator: DemoNarrator
    ) async throws -> ExitStatus {
        let (summary, _) = try await replay.summary()
        await replay.close()
        let name = ResourceName(
            provider: configuration.vehicle.providerID, service: configuration.vehicle.service,
            id: configuration.vehicle.vehicleID)
        let record = await simulator.record.vehicles[name]
        let arrived = record?.fixTimes.count ?? 0
        narrator.close()
        try StandardOutput.write(
            line: """

                \(summary.text)
                Fleet Engine holds \(arrived.counted("distinct position")) of \(configuration.vehicle.vehicleID); its last \
                locations arrived \(record?.order.lastLocationsBackInTime == 0 ? "in order" : "OUT OF ORDER").
                """)
        let isCorrect =
            summary.isComplete && Int64(arrived) == summary.ledger.accepted
            && record?.order.lastLocationsBackInTime == 0
        return isCorrect ? .done : .failed
    }

    private func makeSimulator() throws -> FleetEngineSimulator {
        var settings = SimulatorSettings()
        settings.address = address
        do { return try FleetEngineSimulator(settings) } catch {
            throw AgentError(.unavailable, error.description)
        }
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

/// A narrator that explains on standard error what happens while the demo runs.
final class DemoNarrator: ReportingObserver {
    private struct State {
        var hasDelivered = false
        var failures = 0
        var accepted = 0
        var delivered = 0
        var isClosed = false
    }

    private let clock: MonotonicClock
    private let state = Locked(State())

    init(clock: MonotonicClock) { self.clock = clock }

    func open(page: String, drive: String, length: Duration, speed: Double) {
        let extent =
            length < .seconds(120)
            ? Int(length.components.seconds).counted("second")
            : Int((length / .seconds(60)).rounded()).counted("minute")
        let pace = speed < 1.5 ? "in real time" : "at \(Int(speed.rounded())) times real speed"
        Terminal.say(
            """
            Waypost demo: \(drive), \(extent), played \(pace).
            Fleet Engine and the token issuer are simulated on this machine. Watch the van: \(page)

            """)
        say("reading the receiver; an update is due every 5 s of the drive")
    }

    func narrateOutage(begins: Bool) {
        if begins {
            say("OUTAGE: Fleet Engine is unreachable; the drive continues and updates are kept in the outbox")
            return
        }
        let waiting = state.withLock { $0.accepted - $0.delivered }
        say("the outage is over; \(waiting.counted("update")) pending")
    }

    /// Ends the narration. Later events print nothing.
    func close() { state.withLock { $0.isClosed = true } }

    func observe(_ event: ReportingEvent) {
        switch event {
        case .accepted: state.withLock { $0.accepted += 1 }
        case .delivered(let batch, _, _): narrateDelivery(of: batch)
        case .failed(let outcome, _, _): narrateFailure(outcome)
        case .receiver(.ended): say("the drive has ended")
        default: break
        }
    }

    private func narrateDelivery(of batch: UploadBatch) {
        let (isFirst, wasFailing) = state.withLock { state in
            defer {
                state.hasDelivered = true
                state.failures = 0
                state.delivered += batch.pending.count
            }
            return (!state.hasDelivered, state.failures > 0)
        }
        if isFirst { say("token fetched, first update delivered") }
        if wasFailing {
            say(
                "delivery works again: the newest position first, with \(batch.past.count.counted("older update")) in the same request"
            )
        }
    }

    private func narrateFailure(_ outcome: DeliveryOutcome) {
        let failures = state.withLock { state in
            state.failures += 1
            return state.failures
        }
        guard failures == 1, let condition = Condition(outcome) else { return }
        say("not delivered: \(condition.line); retrying with increasing delays")
    }

    private func say(_ text: String) {
        guard state.withLock({ !$0.isClosed }) else { return }
        let time = FigureText.decimal(clock.now / .seconds(1), places: 1)
        Terminal.say("\(time.leftPadded(to: 5)) s  \(text)")
    }
}
