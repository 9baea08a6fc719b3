import FleetEngine
import FleetEngineSimulator
import HTTPMessages
import LinuxPlatform

/// `waypost simulator`: simulates a token issuer and a Fleet Engine that rejects every invalid request.
struct SimulatorCommand {
    static let options = generalOptions + resourceOptions + tokenOptions + faultOptions

    private static let generalOptions: [OptionSpec] = [
        .value(
            "--listen", "HOST:PORT", "the address to listen on (default 127.0.0.1:8089; port 0 chooses a free port)"),
        .value("--record", "FILE", "append every request to FILE, as JSON Lines"),
        .value("--record-uploads", "FILE", "append one line per update to FILE, for map --reported"),
    ]
    private static let resourceOptions: [OptionSpec] = [
        OptionSpec.value("--provider", "ID", "the only provider that exists (default: every provider exists)"),
        OptionSpec.value(
            "--vehicle", "ID", "a vehicle that exists; requests for others get a 404 (default: all exist)",
            isRepeatable: true),
        OptionSpec.value(
            "--trip", "ID=VEHICLE[:METERS]", "a trip of METERS metres (default 3000) that VEHICLE drives",
            isRepeatable: true),
    ].map { $0.inGroup("resources") }
    private static let tokenOptions: [OptionSpec] = [
        OptionSpec.value(
            "--token-shape", "SHAPE", "the format of token answers: guide, onDemandSample or scheduledSample",
            choices: TokenAnswerShape.allCases.map(\.rawValue)),
        OptionSpec.value(
            "--trust-key", "FILE", "also accept tokens that the public key in FILE (PEM) verifies"),
    ].map { $0.inGroup("tokens") }
    private static let faultOptions: [OptionSpec] =
        [
            OptionSpec.value("--seed", "N", "the random seed that decides which requests fail (default 1)").inGroup(
                "faults of Fleet Engine")
        ]
        + FaultPlan.options.map { option in
            let culprit = TokenFaultPlan.options.contains(option) ? "the token issuer" : "Fleet Engine"
            return OptionSpec.value(
                option.name, option.placeholder, option.help, isRepeatable: option.isRepeatable, choices: option.choices
            ).inGroup("faults of \(culprit)")
        }

    private let settings: SimulatorSettings
    private let trustedKeyPath: String?

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
        for vehicle in vehicles { try Self.requireID(vehicle, of: "--vehicle") }
        if let provider = settings.providerID { try Self.requireID(provider, of: "--provider") }
        if !vehicles.isEmpty { settings.existence = .listed(Set(vehicles)) }
        for text in arguments.allValues("--trip") {
            guard let trip = SimulatedTrip(text) else {
                throw UsageError(
                    "--trip is \(text); write ID=VEHICLE, or ID=VEHICLE:METERS with 100 to 10000000 metres",
                    command: "simulator")
            }
            if settings.trips.contains(where: { $0.id == trip.id }) {
                throw UsageError("--trip \(trip.id) is given twice; remove one", command: "simulator")
            }
            if !vehicles.isEmpty, !vehicles.contains(trip.vehicleID) {
                throw UsageError(
                    "--trip \(text) names the vehicle \(trip.vehicleID), which --vehicle does not list, so the "
                        + "vehicle would not exist; add --vehicle \(trip.vehicleID)", command: "simulator")
            }
            settings.trips.append(trip)
        }
        trustedKeyPath = arguments.value("--trust-key")
        if let path = trustedKeyPath { settings.trustedKey = try Self.readKey(at: path) }
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
        settings.uploadsPath = arguments.value("--record-uploads")
        if let path = settings.recordPath, let other = settings.uploadsPath,
            path == other || FileSystem.isSameFile(path, other)
        {
            throw UsageError(
                "--record and --record-uploads use the same file, \(path); use two files", command: "simulator")
        }
        self.settings = settings
    }

    /// Throws if `id` isn't valid in a request, for example because it is a full resource name.
    private static func requireID(_ id: String, of option: String) throws(UsageError) {
        do throws(VehicleName.Problem) { try VehicleName.validate(id) } catch {
            let parts = id.split(separator: "/")
            let isName = error == .isResourceName && parts.count == (option == "--vehicle" ? 4 : 2)
            let guess = isName ? parts.last.map { Suggestion.question(suggesting: "\(option) \($0)") } : nil
            throw UsageError("\(option): \"\(id)\" \(error)\(guess ?? "")", command: "simulator")
        }
    }

    private static func readKey(at path: String) throws -> [UInt8] {
        do throws(BoundedFile.Refusal) { return try BoundedFile.contents(of: path, limit: 1 << 20) } catch {
            throw UsageError("--trust-key: \(path) \(error); use a public key in PEM format", command: "simulator")
        }
    }

    func run() async throws -> ExitStatus {
        let simulator: FleetEngineSimulator
        var settings = settings
        settings.reportProblem = { Terminal.say("waypost: \($0)") }
        do { simulator = try FleetEngineSimulator(settings) } catch {
            if case .signing(let reason) = error, let trustedKeyPath {
                throw UsageError("--trust-key \(trustedKeyPath): \(reason)", command: "simulator")
            }
            if case .recordFile(let path, let cause) = error { throw UnwritableFile(path: path, cause: cause) }
            Terminal.say("waypost: \(error)")
            return .unavailable
        }
        try StandardOutput.write(line: simulator.baseURL.origin)
        let consumer =
            settings.trips.isEmpty
            ? ""
            : "\n  \"consumerAuthorization\": "
                + "{ \"type\": \"http\", \"url\": \"\(simulator.consumerTokenURL)\", \"tokenKey\": \"TRIP_TOKEN_KEY\" },"
        Terminal.say(
            """
            The Fleet Engine simulator is running, and its page is \(simulator.baseURL). Add this to a configuration:
              "authorization": { "type": "http", "url": "\(simulator.tokenURL(for: .onDemandTrips))" },\(consumer)
              "upload": { "endpoint": "\(simulator.baseURL.origin)" }
            """)
        await simulator.run()
        return .done
    }
}
