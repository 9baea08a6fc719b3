package import FleetEngine
import Glibc
package import HTTPMessages
package import LinuxPlatform
import ReportedText
package import Reporting
package import SQLiteOutbox
import StrictJSON

/// The validated contents of the configuration file.
///
/// Reading is strict: an unknown key, a value of the wrong type and a value out of range are errors. All errors are
/// reported together.
public struct Configuration: Sendable {
    package var vehicle: VehicleName
    package var stateWhileRunning: VehicleState
    package var stateOnStop: VehicleState
    /// The path of the private switch; `nil` if none is configured. Private mode is on while anything exists at this
    /// path.
    package var privateModeFile: String?
    package var receiver: ReceiverConfiguration
    package var authorization: AuthorizationConfiguration
    /// The name of the section that `authorization` was read from, for use in messages.
    private(set) var authorizationSection = "authorization"
    /// The provider of consumer tokens, which `waypost watch --trip` uses; `nil` if none is configured.
    package var consumerAuthorization: AuthorizationConfiguration?
    package var reporting: ReportingConfiguration
    package var upload: UploadConfiguration
    package var outbox: OutboxConfiguration
    /// The status address: the port or socket on which the service serves its status.
    package var statusAddress: LocalAddress
    package var log: LogConfiguration
    /// The document that the configuration was read from.
    package private(set) var document = ConfigurationDocument(json: [])

    /// The value of each key and the source of that value. Secrets are redacted.
    package var settings: [ConfigurationSetting] { document.settings }
}

extension Configuration {
    /// The path at which the configuration is expected on a vehicle.
    package static let defaultFile = "/etc/waypost/config.json"
    /// The maximum size of a configuration file in bytes.
    package static let maximumFileBytes = 1 << 20

    /// This configuration with the provider of consumer tokens in place of the provider of driver tokens; `nil` if
    /// `consumerAuthorization` isn't configured.
    var consumerConfiguration: Configuration? {
        consumerAuthorization.map { provider in
            var configuration = self
            configuration.authorization = provider
            configuration.authorizationSection = "consumerAuthorization"
            return configuration
        }
    }
}

extension Configuration {
    /// Reads a configuration file.
    ///
    /// - Throws: an error that lists all problems with the file, one per line.
    public init(file path: String) throws(ConfigurationError) {
        try self.init(file: path, ifMissing: "correct the path, or \(Self.exampleAdvice) there and edit it")
    }

    package static let exampleAdvice =
        "copy config.example.json (installed as /usr/share/doc/waypost/examples/config.json)"

    /// Reads a configuration file. If the file doesn't exist, the error message ends with `remedy`.
    package init(file path: String, ifMissing remedy: String) throws(ConfigurationError) {
        let isService = SandboxedCheck.current != nil || ProcessEnvironment.variables["NOTIFY_SOCKET"] != nil
        let bytes: [UInt8]
        do throws(BoundedFile.Refusal) {
            bytes = try BoundedFile.contents(of: path, limit: Self.maximumFileBytes)
        } catch {
            let reason =
                switch error {
                case .system(let cause) where cause.number == ENOENT && path.hasPrefix("~/"):
                    "there is no such file; the shell replaces ~ only at the start of a word: write --config \(path)"
                case .system(let cause) where cause.number == ENOENT || cause.number == ENOTDIR:
                    "there is no such file; \(remedy)"
                case .system(let cause) where cause.number == EACCES && isService:
                    "cannot be read by the service; run chgrp \(SandboxedCheck.current?.user ?? "waypost") \(path) and chmod g+r \(path)"
                case .system(let cause) where cause.number == EACCES:
                    "cannot be read by this user; use sudo, or, for the service, run chgrp waypost \(path) and chmod g+r \(path)"
                case .system: "\(error)"
                case .notAFile, .tooLarge: "\(error); specify the configuration file, which is JSON"
                }
            throw ConfigurationError(problems: [ConfigurationProblem(in: path, reason)])
        }
        try self.init(json: bytes, file: path)
    }

    /// Reads a configuration from the JSON text of `file`. Error messages name that file.
    ///
    /// - Throws: an error that lists all problems with the text, one per line.
    public init(json: [UInt8], file: String) throws(ConfigurationError) {
        try self.init(json: json, file: file, environment: ProcessEnvironment.variables)
    }

    /// Reads a configuration again from `document`. The result is the same as before, even if the files that it was
    /// read from have changed.
    package init(document: ConfigurationDocument, file: String) throws(ConfigurationError) {
        try self.init(
            json: document.json, file: file, environment: ProcessEnvironment.variables, knownValues: document.values)
    }

    /// Reads a configuration from `json`. References in it are resolved from `knownValues`. If a reference isn't in
    /// `knownValues`, it is resolved now; variables are looked up in `environment`.
    package init(
        json: [UInt8], file: String, environment: [String: String],
        knownValues: [ValueReference: ValueReference.Found] = [:]
    ) throws(ConfigurationError) {
        let document: JSONValue
        // Some editors write a byte order mark, which a JSON reader may ignore (RFC 8259 section 8.1).
        let text = json.starts(with: [0xef, 0xbb, 0xbf]) ? Array(json.dropFirst(3)) : json
        do { document = try JSONValue(parsing: text) } catch {
            let first = text.first { !" \t\r\n".utf8.contains($0) }
            let isOtherFile = first.map { !"{/#".utf8.contains($0) } ?? false
            let remedy = isOtherFile ? "; check that this is the configuration" : ""
            let excerpt = BrokenLine(of: text, error).lines
            throw ConfigurationError(problems: [
                ConfigurationProblem(in: file, "\(error)\(remedy)", excerpt: excerpt)
            ])
        }
        guard case .object(let members) = document else {
            throw ConfigurationError(problems: [
                ConfigurationProblem(in: file, "is \(document.kind) instead of an object; write an object in braces")
            ])
        }
        let reading = ConfigurationReading(
            file: file, places: JSONPlaces(of: text), environment: environment, knownValues: knownValues)
        var root = ConfigurationSection(path: "", members: members, reading: reading)
        var configuration = Self(&root)
        root.finish()
        configuration?.document = ConfigurationDocument(json: json, values: reading.values, settings: reading.settings)
        configuration?.reportSharedPaths(to: reading, file: file)
        guard let configuration, reading.allProblems.isEmpty else {
            throw ConfigurationError(problems: reading.allProblems)
        }
        self = configuration
    }

    /// All keys. They include keys that apply only to one type of receiver, one type of provider or one policy.
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
        // Groups the keys by section, because they were added separately for each "type".
        let sections = keys.filter { !$0.path.contains(".") }.map(\.path)
        return sections.flatMap { section in
            keys.filter { $0.path == section || $0.path.hasPrefix(section + ".") }
        }
    }()

    /// Reads all sections. The result is `nil` only if a required value is missing or wrong, which has then been
    /// reported.
    private init?(_ root: inout ConfigurationSection) {
        let vehicle = Self.readVehicle(from: &root)
        let receiver = ReceiverConfiguration(&root)
        let authorization = AuthorizationConfiguration(&root)
        consumerAuthorization =
            root.has("consumerAuthorization") ? AuthorizationConfiguration(&root, forConsumers: true) : nil
        let reporting = ReportingConfiguration(&root)
        let upload = UploadConfiguration(&root)
        let outbox = OutboxConfiguration(&root)
        var status = root.section("status", "the service's status")
        let statusAddress = status.convertedText(
            "listen", default: "127.0.0.1:9464",
            "the address to listen on: 127.0.0.1:PORT, [::1]:PORT or unix:/PATH; port 0 chooses a free port",
            LocalAddress.init)
        status.finish()
        let log = LogConfiguration(&root)
        _ = root.optionalString("$schema", "the schema of this file, for editors; Waypost ignores it")
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

    private static func readVehicle(
        from root: inout ConfigurationSection
    ) -> (name: VehicleName, whileRunning: VehicleState, onStop: VehicleState, privateModeFile: String?)? {
        var section = root.section("vehicle", isRequired: true, "the vehicle that this machine reports")
        defer { section.finish() }
        func checked(_ id: String) throws(VehicleName.Problem) -> String {
            try VehicleName.validate(id)
            return id
        }
        let providerID = section.convertedText(
            "providerId", "the Google Cloud project of your Fleet Engine", checked)
        let vehicleID = section.convertedText("vehicleId", "the vehicle's id in Fleet Engine", checked)
        let service = section.choice(
            "service", default: FleetService.onDemandTrips,
            "the Fleet Engine service: onDemandTrips (vehicles) or scheduledTasks (deliveryVehicles)")
        let whileRunning = section.choice(
            "stateWhileRunning", default: VehicleState.online,
            "the state that is sent with every update; for on-demand vehicles only")
        let onStop = section.choice(
            "stateOnStop", default: VehicleState.offline,
            "the state that is sent once when the service stops; for on-demand vehicles only")
        let privateModeFile = section.optionalString(
            "privateModeFile", "the private switch; while this file exists, positions are not stored, sent or shown")
        guard let providerID, let vehicleID,
            let name = try? VehicleName(service: service, providerID: providerID, vehicleID: vehicleID)
        else { return nil }
        return (name, whileRunning, onStop, privateModeFile)
    }
}

extension OutboxConfiguration {
    init(_ root: inout ConfigurationSection) {
        var section = root.section("outbox", "the file that keeps updates until they are delivered")
        self.init(
            path: section.string(
                "path", default: "/var/lib/waypost/outbox.sqlite",
                "the path of the outbox; Waypost keeps other files next to it"),
            maximumBytes: Int64(
                section.integer(
                    "maximumMegabytes", in: 1...4096, default: 64,
                    "the maximum size; near this size, old drives are thinned, and then the oldest pending updates are evicted"
                )) * 1_000_000)
        maximumAge = section.integer(
            "maximumAgeDays", in: 1...3650, default: nil, or: "unlimited",
            "the maximum age of pending updates, counted from the newest update; older ones are evicted"
        ).map { .seconds($0 * 86_400) }
        durability = section.choice(
            "durability", default: .full,
            "the durability of updates; economy writes them in groups, which saves flash, but a crash may lose the last ones"
        )
        section.finish()
    }
}

/// The settings for uploads: how and where updates are sent.
package struct UploadConfiguration: Sendable, Hashable {
    package var endpoint: HTTPURL
    package var timeout: Duration
    package var maximumPastLocations: Int
    /// The maximum rate at which a backlog is uploaded; `nil` if only Fleet Engine's responses limit the rate.
    package var backlogUpdatesPerSecond: Double?
    package var retry: RetryPolicy
    package var caFile: String?
    package var proxy: HTTPProxy?

    init?(_ root: inout ConfigurationSection) {
        var section = root.section("upload", "the settings for uploads: how and where updates are sent")
        let endpoint = section.url(
            "endpoint", default: "https://fleetengine.googleapis.com",
            "Fleet Engine's URL; plain http for loopback hosts only", HTTPURL.init)
        timeout = section.seconds(
            "timeoutSeconds", in: 1...120, default: 15, "the time limit for one upload, including connecting")
        maximumPastLocations = section.integer(
            "maximumPastLocations", in: 1...500, default: 50, "the maximum number of older positions in one upload")
        let pace = section.integer(
            "backlogUpdatesPerSecond", in: 0...100_000, default: 100,
            "the maximum rate of a backlog; 0 means as fast as responses arrive")
        backlogUpdatesPerSecond = pace == 0 ? nil : Double(pace)
        caFile = section.optionalString(
            "caFile", "the PEM file with the certificate authorities to trust instead of the system's")
        proxy = section.proxy(to: endpoint)
        var retry = section.section(
            "retry", as: #"{"initialDelaySeconds": 1, "maximumDelaySeconds": 60}"#, "the delays before retries")
        self.retry = RetryPolicy(
            initialDelay: retry.seconds(
                "initialDelaySeconds", in: 0.05...60, default: 1,
                "the maximum delay before the first retry; this maximum doubles with each retry, and the delay has jitter"
            ),
            maximumDelay: retry.seconds(
                "maximumDelaySeconds", in: 0.05...600, default: 60,
                "the upper limit of the maximum delay before a retry; at least initialDelaySeconds"))
        retry.require(
            "maximumDelaySeconds", lasting: self.retry.maximumDelay, notShorterThan: "initialDelaySeconds",
            lasting: self.retry.initialDelay)
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
        var section = root.section("log", "the settings for the log")
        level = section.choice("level", default: .info, "the least severe level that is logged")
        format = section.choice("format", default: .text, "the format of the lines on standard error")
        section.finish()
    }
}
