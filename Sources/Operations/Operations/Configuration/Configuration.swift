package import FleetEngine
import Glibc
package import HTTPMessages
package import LinuxPlatform
import ReportedText
package import Reporting
package import SQLiteOutbox
import StrictJSON

/// What one agent is set up to do: the configuration file as checked values.
///
/// Reading is strict: an unknown key, a wrong type and a value out of range are errors, all reported at once.
public struct Configuration: Sendable {
    package var vehicle: VehicleName
    package var stateWhileRunning: VehicleState
    package var stateOnStop: VehicleState
    /// While there is something at this path, nothing is told of where the vehicle is.
    package var privateModeFile: String?
    package var receiver: ReceiverConfiguration
    package var authorization: AuthorizationConfiguration
    /// The name of the section that `authorization` was read from, for errors.
    private(set) var authorizationSection = "authorization"
    /// Where a trip's tokens come from, for those who follow one.
    package var consumerAuthorization: AuthorizationConfiguration?
    package var reporting: ReportingConfiguration
    package var upload: UploadConfiguration
    package var outbox: OutboxConfiguration
    /// Where the running service answers questions.
    package var statusAddress: LocalAddress
    package var log: LogConfiguration
    /// What is in force under every key that was read, and where it came from; without secrets.
    package private(set) var settings: [ConfigurationSetting] = []
    /// What it was read from.
    package private(set) var document = ConfigurationDocument(json: [])
}

extension Configuration {
    /// Where a vehicle has its configuration.
    package static let usualFile = "/etc/waypost/config.json"

    /// The same with the consumers' provider in the place of the driver's; `nil` when none is configured.
    var forConsumers: Configuration? {
        consumerAuthorization.map { provider in
            var own = self
            own.authorization = provider
            own.authorizationSection = "consumerAuthorization"
            return own
        }
    }
}

extension Configuration {
    /// Reads a configuration file.
    ///
    /// - Throws: everything that is wrong with it, a line each.
    public init(file path: String) throws(ConfigurationError) {
        try self.init(file: path, ifMissing: "copy config.example.json there and edit it")
    }

    /// The same; `remedy` says what to do when there is no such file.
    package init(file path: String, ifMissing remedy: String) throws(ConfigurationError) {
        let bytes: [UInt8]
        do throws(BoundedFile.Refusal) { bytes = try BoundedFile.contents(of: path, limit: 1 << 20) } catch {
            let reason =
                switch error {
                case .system(let cause) where cause.number == ENOENT || cause.number == ENOTDIR:
                    path == "-" || path.contains("://")
                        ? "a configuration is read from a file; save it as one, and name that"
                        : "there is no such file; \(remedy)"
                case .system(let cause) where cause.number == EACCES && SandboxedCheck.inside != nil:
                    "cannot be read by the service; type chgrp \(SandboxedCheck.inside?.user ?? "") \(path) and chmod g+r \(path)"
                case .system(let cause) where cause.number == EACCES:
                    "may not be read by this user; check owner and mode; use sudo, or join the group waypost"
                case .system: "\(error)"
                case .notAFile(.folder): "is a folder; name the configuration file in it"
                case .notAFile, .tooLarge: "\(error); name the configuration file, in JSON"
                }
            throw ConfigurationError(problems: ["\(path): \(reason)"])
        }
        try self.init(json: bytes, file: path)
    }

    /// Whether there is a configuration at `path`, right or wrong, and nothing else that is JSON. Reads a small file.
    package static func isWritten(at path: String) -> Bool {
        guard let bytes = try? BoundedFile.contents(of: path, limit: 1 << 20) else { return false }
        let document = try? JSONValue(parsing: bytes)
        return ["vehicle", "receiver", "authorization"].contains { document?[$0] != nil }
    }

    /// Reads a configuration from its JSON text; `file` is how errors call it.
    ///
    /// - Throws: everything that is wrong with it, a line each.
    public init(json: [UInt8], file: String) throws(ConfigurationError) {
        try self.init(json: json, file: file, environment: ProcessEnvironment.variables)
    }

    /// Reads again what was read before, with the same result.
    package init(document: ConfigurationDocument, file: String) throws(ConfigurationError) {
        try self.init(
            json: document.json, file: file, environment: ProcessEnvironment.variables, known: document.values)
    }

    /// Reads `json`. References to the environment and to credentials are resolved from `known`, then from
    /// `environment`.
    package init(
        json: [UInt8], file: String, environment: [String: String],
        known: [ValueReference: ValueReference.Found] = [:]
    ) throws(ConfigurationError) {
        let document: JSONValue
        // Editors on other systems put a byte order mark before the text (RFC 8259 section 8.1 lets a reader pass it).
        let text = json.starts(with: [0xef, 0xbb, 0xbf]) ? Array(json.dropFirst(3)) : json
        do { document = try JSONValue(parsing: text) } catch {
            if ["$GP", "$GN", "!AI"].contains(where: { text.starts(with: Array($0.utf8)) }) {
                throw ConfigurationError(problems: [
                    "\(file): is a receiver's log, not a configuration; name the configuration behind --config, and the "
                        + "log without it"
                ])
            }
            if text.starts(with: [0x1F, 0x8B]) {
                throw ConfigurationError(problems: ["\(file): is packed with gzip; unpack it (gunzip)"])
            }
            if text.first == UInt8(ascii: "[") {
                throw ConfigurationError(problems: [
                    "\(file): begins with [, as TOML and INI do; write a JSON object, which begins with {"
                ])
            }
            throw ConfigurationError(problems: ["\(file): \(error)\(BrokenLine(of: text, error).lines)"])
        }
        guard case .object(let members) = document else {
            throw ConfigurationError(problems: ["\(file): holds \(document.kind); write an object in braces"])
        }
        let reading = ConfigurationReading(
            file: file, places: JSONPlaces(of: text), environment: environment, known: known)
        var root = ConfigurationSection(path: "", members: members, reading: reading)
        var configuration = Self(&root)
        root.finish()
        configuration?.settings = reading.settings
        configuration?.document = ConfigurationDocument(json: json, values: reading.values)
        configuration?.reportSharedPaths(to: reading, file: file)
        guard let configuration, reading.lines.isEmpty else {
            throw ConfigurationError(problems: reading.lines)
        }
        self = configuration
    }

    /// The keys that are asked for when nothing but a type of receiver and of provider, and a policy, is configured,
    /// for each.
    static let declaredKeys: [ConfigurationKey] = {
        var keys: [ConfigurationKey] = []
        let receivers = ReceiverConfiguration.Kind.allCases.map(\.rawValue)
        let providers = AuthorizationConfiguration.Kind.allCases.map(\.rawValue)
        let policies = ReportingConfiguration.PolicyWord.allCases.map(\.rawValue)
        for index in 0..<max(receivers.count, providers.count, policies.count) {
            func section(_ types: [String], by key: String = "type") -> JSONValue {
                .object([key: .string(types[min(index, types.count - 1)])])
            }
            let members = [
                "receiver": section(receivers), "authorization": section(providers),
                "consumerAuthorization": section(providers), "reporting": section(policies, by: "policy"),
            ]
            let reading = ConfigurationReading(file: "")
            var root = ConfigurationSection(path: "", members: members, reading: reading)
            _ = Self(&root)
            keys += reading.keys.filter { !keys.contains($0) }
        }
        // Those of the later types beside those of the first.
        let sections = keys.filter { !$0.path.contains(".") }.map(\.path)
        return sections.flatMap { section in
            keys.filter { $0.path == section || $0.path.hasPrefix(section + ".") }
        }
    }()

    /// `nil` only when something without a default is wrong, which has been reported.
    private init?(_ root: inout ConfigurationSection) {
        let vehicle = Self.vehicle(&root)
        let receiver = ReceiverConfiguration(&root)
        let authorization = AuthorizationConfiguration(&root)
        consumerAuthorization =
            root.has("consumerAuthorization") ? AuthorizationConfiguration(&root, forConsumers: true) : nil
        let reporting = ReportingConfiguration(&root)
        let upload = UploadConfiguration(&root)
        let outbox = OutboxConfiguration(&root)
        var status = root.section("status", "where the running service answers questions")
        let statusAddress = status.converted(
            "listen", default: "127.0.0.1:9464", "127.0.0.1:PORT, [::1]:PORT, or unix:/PATH; port 0 takes a free one",
            LocalAddress.init)
        status.finish()
        let log = LogConfiguration(&root)
        _ = root.optionalString("$schema", "where an editor finds the schema of this file; Waypost does not look there")
        guard let vehicle, let receiver, let authorization, let upload, let statusAddress else { return nil }
        self.vehicle = vehicle.name
        stateWhileRunning = vehicle.whileRunning
        stateOnStop = vehicle.onStop
        privateModeFile = vehicle.privateModeFile
        self.receiver = receiver
        self.authorization = authorization
        self.reporting = reporting
        self.upload = upload
        self.outbox = outbox
        self.statusAddress = statusAddress
        self.log = log
    }

    private static func vehicle(
        _ root: inout ConfigurationSection
    ) -> (name: VehicleName, whileRunning: VehicleState, onStop: VehicleState, privateModeFile: String?)? {
        var section = root.section("vehicle", isRequired: true, "which vehicle this is")
        defer { section.finish() }
        func checked(_ id: String) throws(VehicleName.Problem) -> String {
            try VehicleName.validate(id)
            return id
        }
        let providerID = section.converted(
            "providerId", "the Google Cloud project of your Fleet Engine", checked)
        let vehicleID = section.converted("vehicleId", "the vehicle as Fleet Engine knows it", checked)
        let service = section.choice(
            "service", default: FleetService.onDemandTrips,
            meant: [
                "vehicles": .onDemandTrips, "ondemand": .onDemandTrips, "trips": .onDemandTrips, "odrd": .onDemandTrips,
                "deliveryvehicles": .scheduledTasks, "tasks": .scheduledTasks, "lmfs": .scheduledTasks,
            ], "vehicles or deliveryVehicles of Fleet Engine")
        let whileRunning = section.choice(
            "stateWhileRunning", default: VehicleState.online, "sent with every update; on-demand vehicles only")
        let onStop = section.choice(
            "stateOnStop", default: VehicleState.offline,
            "sent once when the service stops; on-demand vehicles only")
        let privateModeFile = section.optionalString(
            "privateModeFile", "while a file is there, nothing is kept, sent or shown of where the vehicle is")
        guard let providerID, let vehicleID,
            let name = try? VehicleName(service: service, providerID: providerID, vehicleID: vehicleID)
        else { return nil }
        return (name, whileRunning, onStop, privateModeFile)
    }
}

extension OutboxConfiguration {
    init(_ root: inout ConfigurationSection) {
        var section = root.section("outbox", "the file in which updates wait until they are delivered")
        self.init(
            path: section.string(
                "path", default: "/var/lib/waypost/outbox.sqlite", "the outbox; other files lie beside it"),
            maximumBytes: Int64(
                section.integer(
                    "maximumMegabytes", in: 1...4096, default: 64,
                    "near this size old drives are thinned, then the oldest pending updates are evicted")) * 1_000_000)
        maximumAge = section.integer(
            "maximumAgeDays", in: 1...3650, default: nil, or: "unlimited",
            "pending updates that much older than the newest are evicted"
        ).map { .seconds($0 * 86_400) }
        durability = section.choice(
            "durability", default: .full,
            "economy writes updates together, which saves flash; a crash may lose the last of them")
        section.finish()
    }
}

/// Where and how updates are sent.
package struct UploadConfiguration: Sendable, Hashable {
    package var endpoint: HTTPURL
    package var timeout: Duration
    package var maximumPastLocations: Int
    /// The pace of a backlog; `nil` sends it as fast as answers come.
    package var backlogUpdatesPerSecond: Double?
    package var retry: RetryPolicy
    package var caFile: String?
    package var proxy: HTTPProxy?

    init?(_ root: inout ConfigurationSection) {
        var section = root.section("upload", "where and how updates are sent")
        let endpoint = section.url(
            "endpoint", default: "https://fleetengine.googleapis.com",
            "where Fleet Engine is; plain http for loopback hosts only", HTTPURL.init)
        timeout = section.seconds(
            "timeoutSeconds", in: 1...120, default: 15, "for one upload, connecting included")
        maximumPastLocations = section.integer(
            "maximumPastLocations", in: 1...500, default: 50, "older positions in one upload")
        let pace = section.integer(
            "backlogUpdatesPerSecond", in: 0...100_000, default: 100,
            "the pace of a backlog; 0 is as fast as answers come")
        backlogUpdatesPerSecond = pace == 0 ? nil : Double(pace)
        caFile = section.optionalString("caFile", "PEM file of authorities to trust instead of the system's")
        proxy = section.proxy(to: endpoint)
        var retry = section.section("retry", "how attempts are repeated")
        self.retry = RetryPolicy(
            initialDelay: retry.seconds(
                "initialDelaySeconds", in: 0.05...60, default: 1,
                "longest pause before the first retry; it doubles, with jitter"),
            maximumDelay: retry.seconds(
                "maximumDelaySeconds", in: 0.05...600, default: 60,
                "where the doubling ends; not below initialDelaySeconds"))
        retry.require(
            "maximumDelaySeconds", self.retry.maximumDelay, notBelow: "initialDelaySeconds", self.retry.initialDelay)
        retry.finish()
        section.finish()
        guard let endpoint else { return nil }
        self.endpoint = endpoint
    }
}

package struct LogConfiguration: Sendable, Hashable {
    package var level: LogLevel
    package var format: LogFormat

    init(_ root: inout ConfigurationSection) {
        var section = root.section("log", "what goes to the log")
        level = section.choice("level", default: .info, "each level includes those before it")
        format = section.choice("format", default: .text, "how a line of the log is written, on standard error")
        section.finish()
    }
}
