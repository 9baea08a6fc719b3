import FleetEngine
import FleetEngineSimulator
import HTTPMessages
import LinuxPlatform

/// `waypost simulator`: token issuer and strict Fleet Engine, alone.
struct SimulatorCommand {
    static let options: [OptionSpec] =
        [
            .value("--listen", "HOST:PORT", "where to listen (default 127.0.0.1:8089; port 0 takes a free one)"),
            .value("--provider", "ID", "the only provider that exists (default any)"),
            .value("--vehicle", "ID", "a vehicle that exists; others answer 404 (default all exist); may be repeated"),
            .value("--token-shape", "SHAPE", "the token answer: guide, onDemandSample or scheduledSample"),
            .value("--record", "FILE", "write everything that arrives as JSON Lines"),
            .value("--seed", "N", "decides where the faults fall (default 1)"),
        ] + FaultPlan.options.map { .value($0.name, $0.placeholder, $0.help) }

    private let settings: SimulatorSettings

    init(_ arguments: Arguments) throws {
        var settings = SimulatorSettings()
        settings.address = try arguments.address("--listen", default: "127.0.0.1:8089", command: "simulator")
        do {
            for option in FaultPlan.options {
                for value in arguments.allValues(option.name) { try settings.faults.set(option.name, value) }
            }
        } catch { throw UsageError("\(error)", command: "simulator") }
        settings.providerID = arguments.value("--provider")
        let vehicles = arguments.allValues("--vehicle")
        if !vehicles.isEmpty { settings.existence = .listed(Set(vehicles)) }
        if let word = arguments.value("--token-shape") {
            guard let shape = TokenAnswerShape(rawValue: word) else {
                let words = TokenAnswerShape.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--token-shape is \(word); use one of \(words)", command: "simulator")
            }
            settings.tokenShape = shape
        }
        if let text = arguments.value("--seed") {
            guard let seed = UInt64(text) else {
                throw UsageError("--seed is \(text); use a whole number", command: "simulator")
            }
            settings.seed = seed
        }
        settings.recordPath = arguments.value("--record")
        self.settings = settings
    }

    func run() async throws -> ExitStatus {
        let simulator: FleetEngineSimulator
        do { simulator = try FleetEngineSimulator(settings) } catch {
            Terminal.say("waypost: \(error)")
            return .unavailable
        }
        try StandardOutput.write(line: simulator.baseURL.origin)
        Terminal.say(
            """
            Fleet Engine simulator; its page is \(simulator.baseURL). In a configuration:
              "authorization": { "type": "http", "url": "\(simulator.tokenURL(for: .onDemandTrips))" },
              "upload": { "endpoint": "\(simulator.baseURL.origin)" }
            """)
        await simulator.run()
        return .done
    }
}
