import FleetEngine
import Glibc
import LinuxPlatform
import StrictJSON

extension Configuration {
    /// Reads a configuration file.
    ///
    /// - Throws: everything that is wrong with it, a line each.
    public init(file path: String) throws(ConfigurationError) {
        let bytes: [UInt8]
        do throws(BoundedFile.Refusal) { bytes = try BoundedFile.contents(of: path, limit: 1 << 20) } catch {
            let reason =
                switch error {
                case .system(let cause) where cause.number == ENOENT || cause.number == ENOTDIR:
                    "there is no such file; copy config.example.json there and edit it"
                case .system(let cause) where cause.number == EACCES:
                    "may not be read by this user; check owner and mode"
                case .system: "\(error)"
                case .notAFile(.folder): "is a folder; name the configuration file in it"
                case .notAFile, .tooLarge: "\(error); name the configuration file, in JSON"
                }
            throw ConfigurationError(problems: ["\(path): \(reason)"])
        }
        try self.init(json: bytes, file: path)
    }

    /// Reads a configuration from its JSON text; `file` is how errors call it.
    ///
    /// - Throws: everything that is wrong with it, a line each.
    public init(json: [UInt8], file: String) throws(ConfigurationError) {
        let document: JSONValue
        // Editors on other systems put a byte order mark before the text (RFC 8259 section 8.1 lets a reader pass it).
        let text = json.starts(with: [0xef, 0xbb, 0xbf]) ? Array(json.dropFirst(3)) : json
        do { document = try JSONValue(parsing: text) } catch {
            throw ConfigurationError(problems: ["\(file): \(error)"])
        }
        guard case .object(let members) = document else {
            throw ConfigurationError(problems: ["\(file): holds \(document.kind); write an object in braces"])
        }
        let problems = ConfigurationProblems(file: file)
        var root = ConfigurationSection(path: "", members: members, problems: problems)
        let configuration = Self(&root)
        root.finish()
        configuration?.reportSharedPaths(to: problems, file: file)
        guard let configuration, problems.lines.isEmpty else {
            throw ConfigurationError(problems: problems.lines)
        }
        self = configuration
    }

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
        let status = StatusConfiguration(&root)
        let log = LogConfiguration(&root)
        guard let vehicle, let receiver, let authorization, let upload, let status else { return nil }
        self.vehicle = vehicle.name
        (stateWhileRunning, stateOnStop) = (vehicle.whileRunning, vehicle.onStop)
        (self.receiver, self.authorization, self.reporting) = (receiver, authorization, reporting)
        (self.upload, self.outbox, self.status, self.log) = (upload, outbox, status, log)
    }

    private static func vehicle(
        _ root: inout ConfigurationSection
    ) -> (name: VehicleName, whileRunning: VehicleState, onStop: VehicleState)? {
        var section = root.section("vehicle", isRequired: true)
        defer { section.finish() }
        let service = section.choice("service", default: FleetService.onDemandTrips) ?? .onDemandTrips
        let whileRunning = section.choice("stateWhileRunning", default: VehicleState.online) ?? .online
        let onStop = section.choice("stateOnStop", default: VehicleState.offline) ?? .offline
        func checked(_ id: String) throws(VehicleName.Problem) -> String {
            try VehicleName.validate(id)
            return id
        }
        let providerID = section.converted("providerId", checked)
        let vehicleID = section.converted("vehicleId", checked)
        guard let providerID, let vehicleID,
            let name = try? VehicleName(service: service, providerID: providerID, vehicleID: vehicleID)
        else { return nil }
        return (name, whileRunning, onStop)
    }
}
