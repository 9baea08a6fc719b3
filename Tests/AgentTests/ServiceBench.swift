import FleetEngine
import FleetEngineSimulator
import FoundationEssentials
import HTTPMessages
import ReceiverSimulator
import WaypostTestSupport

/// The environment of `waypost run` in a test: a directory, a simulated Fleet Engine, and a configuration file.
final class ServiceBench: Sendable {
    let directory: TemporaryDirectory
    let simulator: FleetEngineSimulator
    /// The positions that Fleet Engine has accepted, one JSON line each.
    let arrivals: LineFlow
    private let serving: Task<Void, Never>

    /// Creates the directory and starts the simulator. `faults` are options of `waypost simulator` with their values.
    init(faults: [(option: String, value: String)] = []) throws {
        directory = try TemporaryDirectory()
        var settings = SimulatorSettings()
        for fault in faults { try settings.faults.set(fault.option, fault.value) }
        let pipe = directory.path("arrivals")
        arrivals = try LineFlow(namedPipe: pipe)
        settings.recordPath = pipe
        let simulator = try FleetEngineSimulator(settings)
        self.simulator = simulator
        serving = Task { await simulator.run() }
    }

    deinit { serving.cancel() }

    var devicePath: String { ServiceSetup.device(in: directory) }

    var vehicle: VehicleRecord? {
        get async {
            await simulator.record.vehicles[ResourceName(provider: "p", service: .onDemandTrips, id: "van-7")]
        }
    }

    /// Writes a configuration file. Returns its path.
    func configure(_ edit: (inout ServiceSetup) -> Void = { _ in }) throws -> String {
        var setup = ServiceSetup(
            tokenURL: simulator.tokenURL(for: .onDemandTrips), endpoint: simulator.baseURL.origin)
        edit(&setup)
        return try setup.write(in: directory)
    }

    func start(
        environment: [String: String] = [:], _ edit: (inout ServiceSetup) -> Void = { _ in }
    ) throws -> RunningProgram {
        try RunningProgram(
            [BuiltProgram.waypost, "run", "--config", try configure(edit)],
            environment: BuiltProgram.environment.merging(environment) { $1 })
    }

    func arrival(of epoch: DriveEpoch) async -> LineFlow.Line? {
        await arrivals.line(saying: "\"time\":\"\(epoch.time)\"")
    }
}
