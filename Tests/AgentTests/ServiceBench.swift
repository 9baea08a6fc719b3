import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import HTTPMessages
import LinuxPlatform
import ReceiverSimulator
import WaypostTestSupport

/// What surrounds `waypost run` in a test: a folder, a simulated Fleet Engine, and a configuration file.
final class ServiceBench: Sendable {
    /// What differs from test to test in the configuration.
    struct Setup {
        var tokenURL: String
        /// A path in the folder.
        var outbox = "outbox.sqlite"
        var status = "127.0.0.1:0"
        var level = "debug"
        /// First and longest wait between attempts, in seconds.
        var retryDelay = 0.05
    }

    let folder: TemporaryFolder
    let simulator: FleetEngineSimulator
    /// A JSON line for every position that Fleet Engine has committed.
    let arrivals: LineFlow
    private let serving: Task<Void, Never>

    /// `faults` are options of `waypost simulator` with their values.
    init(faults: [(option: String, value: String)] = []) throws {
        folder = try TemporaryFolder()
        var settings = SimulatorSettings()
        for fault in faults { try settings.faults.set(fault.option, fault.value) }
        let pipe = folder.path("arrivals")
        arrivals = try LineFlow(namedPipe: pipe)
        settings.recordPath = pipe
        let simulator = try FleetEngineSimulator(settings)
        self.simulator = simulator
        serving = Task { await simulator.run() }
    }

    deinit { serving.cancel() }

    /// The device in the configuration.
    var devicePath: String { folder.path("receiver") }

    /// What Fleet Engine knows of the vehicle.
    var vehicle: VehicleRecord? {
        get async {
            await simulator.record.vehicles[ResourceName(provider: "p", service: .onDemandTrips, id: "van-7")]
        }
    }

    /// Writes a configuration file and gives its path.
    func configure(_ edit: (inout Setup) -> Void = { _ in }) throws -> String {
        var setup = Setup(tokenURL: simulator.tokenURL(for: .onDemandTrips))
        edit(&setup)
        let text = """
            {"vehicle": {"providerId": "p", "vehicleId": "van-7"},
             "receiver": {"type": "serial", "device": "\(devicePath)"},
             "authorization": {"type": "http", "url": "\(setup.tokenURL)"},
             "reporting": {"intervalSeconds": 5},
             "upload": {"endpoint": "\(simulator.baseURL.origin)", "maximumPastLocations": 7,
                        "retry": {"initialDelaySeconds": \(setup.retryDelay),
                                  "maximumDelaySeconds": \(setup.retryDelay)}},
             "outbox": {"path": "\(folder.path(setup.outbox))"},
             "status": {"listen": "\(setup.status)"}, "log": {"level": "\(setup.level)"}}
            """
        return try folder.write(text.utf8, to: "config.json")
    }

    /// Starts the service.
    func start(
        environment: [String: String] = [:], _ edit: (inout Setup) -> Void = { _ in }
    ) throws -> RunningProgram {
        try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", try configure(edit)],
            environment: BuiltProgram.environment.merging(environment) { $1 })
    }

    /// Runs a command that ends by itself.
    func run(_ words: String...) async throws -> ChildProcess.Outcome {
        try await ChildProcess(
            arguments: [BuiltProgram.waypost] + words, environment: BuiltProgram.environment, timeLimit: .seconds(30),
            outputLimit: 1 << 22
        ).run()
    }

    /// Waits until Fleet Engine has the position of `epoch`.
    func arrival(of epoch: DriveEpoch) async -> LineFlow.Line? {
        await arrivals.line(saying: "\"time\":\"\(epoch.time)\"")
    }
}
