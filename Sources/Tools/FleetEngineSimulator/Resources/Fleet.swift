import ReportedText
import StrictJSON
import TimeAndRandomness

/// The simulated vehicles, which requests read and change according to Fleet Engine's rules.
struct Fleet {
    /// The result of a request that creates or updates a vehicle.
    typealias Outcome = (answer: JSONValue, update: AcceptedUpdate)

    private let existence: VehicleExistence
    private let maximumPastLocations: Int?
    /// The maximum number of vehicles, which limits the memory that they use.
    private static let maximumVehicles = 100_000
    private var vehicles: [ResourceName: [String: JSONValue]] = [:]

    init(existence: VehicleExistence, maximumPastLocations: Int? = nil) {
        self.existence = existence
        self.maximumPastLocations = maximumPastLocations
    }

    /// Creates the vehicle `name` unless it already exists, requires a request to create it, or would exceed the
    /// maximum number.
    private mutating func createOnFirstUse(_ name: ResourceName) {
        if existence.covers(name.id), vehicles[name] == nil, vehicles.count < Self.maximumVehicles {
            vehicles[name] = [:]
        }
    }

    func get(_ name: ResourceName) throws(ErrorAnswer) -> JSONValue {
        guard let stored = vehicles[name] else {
            guard existence.covers(name.id) else { throw .notFound("Resources not found: \(name)") }
            return resource(named: name, fields: [:])
        }
        return resource(named: name, fields: stored)
    }

    mutating func create(_ name: ResourceName, body: [UInt8]) throws(ErrorAnswer) -> Outcome {
        let message = try validatedMessage(body, for: name)
        let given = message.objectValue ?? [:]
        if let allowed = name.service.allowedAtCreation,
            let field = given.keys.sorted().first(where: { !allowed.contains($0) })
        {
            throw .invalid(field: field, "can't be set when the vehicle is created")
        }
        if given["pastLocations"] != nil { throw .invalid(field: "pastLocations", "is accepted only in updates") }
        if let field = name.service.requiredAtCreation.first(where: { given[$0] == nil }) {
            throw .invalid(field: field, "is required when the vehicle is created")
        }
        guard vehicles[name] == nil || vehicles[name]?.isEmpty == true else {
            throw ErrorAnswer(status: 409, code: .alreadyExists, message: "Resource already exists: \(name)")
        }
        guard vehicles.count < Self.maximumVehicles else {
            throw ErrorAnswer(
                status: 429, code: .resourceExhausted, message: "the simulator supports at most 100000 vehicles")
        }
        vehicles[name] = given
        return (resource(named: name, fields: given), acceptedUpdate(of: name, fields: given))
    }

    /// Applies the fields in `mask` to the vehicle, and returns the result. A field in the mask that is absent from the
    /// body is cleared. Fields outside the mask are ignored.
    mutating func update(_ name: ResourceName, mask: UpdateMask, body: [UInt8], now: UTCTime) throws(ErrorAnswer)
        -> Outcome
    {
        let message = try validatedMessage(body, for: name)
        createOnFirstUse(name)
        guard let stored = vehicles[name] else { throw .notFound("Resources not found: \(name)") }
        var updated = JSONValue.object(stored)
        var masked = JSONValue.object([:])
        for path in mask.paths {
            updated = updated.setting(path[...], to: message.value(at: path[...]))
            if let value = message.value(at: path[...]) { masked = masked.setting(path[...], to: value) }
        }
        var fields = updated.objectValue ?? [:]
        if mask.contains("lastLocation"), let location = fields["lastLocation"] {
            fields["lastLocation"] = location.setting(["serverTime"], to: .string(now.description))
        }
        vehicles[name] = fields.filter { name.service.schema.fields[$0.key]?.direction == .both }
        return (resource(named: name, fields: fields), acceptedUpdate(of: name, fields: masked.objectValue ?? [:]))
    }

    private func validatedMessage(_ body: [UInt8], for name: ResourceName) throws(ErrorAnswer) -> JSONValue {
        let json: JSONValue
        do { json = try JSONValue(parsing: body) } catch { throw .invalid("Invalid JSON payload received: \(error)") }
        var reader = MessageReader()
        let message = reader.readMessage(json, name.service.schema, at: "")
        guard let message, reader.violations.isEmpty else {
            let first = reader.violations[0]
            throw .invalid("Invalid JSON payload received. \(first.field): \(first.description)", reader.violations)
        }
        if let stated = message["name"]?.stringValue, stated != name.description {
            throw .invalid(field: "name", "differs from the URL, which names \(name)")
        }
        let pastCount = message["pastLocations"]?.arrayValue?.count ?? 0
        if let maximumPastLocations, pastCount > maximumPastLocations {
            throw .invalid(
                field: "pastLocations",
                "has \(pastCount.counted("element")); at most \(maximumPastLocations) may be sent")
        }
        try Self.checkAttributes(message["attributes"]?.arrayValue ?? [])
        return message
    }

    private static func checkAttributes(_ attributes: [JSONValue]) throws(ErrorAnswer) {
        var keys: Set<String> = []
        for attribute in attributes {
            let key = attribute["key"]?.stringValue ?? ""
            let value = attribute["stringValue"]?.stringValue ?? attribute["value"]?.stringValue ?? ""
            guard !key.isEmpty, !key.contains(":") else {
                throw .invalid(field: "attributes.key", "must not be empty or contain \":\"")
            }
            guard keys.insert(key).inserted else { throw .invalid(field: "attributes.key", "\"\(key)\" occurs twice") }
            guard key.count + 1 + value.count <= 256 else {
                throw .invalid(field: "attributes", "\"\(key)\" and its value are longer than 256 characters")
            }
        }
    }

    private func acceptedUpdate(of name: ResourceName, fields: [String: JSONValue]) -> AcceptedUpdate {
        let past = fields["pastLocations"]?.arrayValue ?? []
        let positions =
            past.compactMap { AcceptedUpdate.Position($0, isLast: false) }
            + [fields["lastLocation"].flatMap { AcceptedUpdate.Position($0, isLast: true) }].compactMap(\.self)
        return AcceptedUpdate(vehicle: name, positions: positions, vehicleState: fields["vehicleState"]?.stringValue)
    }

    /// Returns the vehicle as a response contains it: with its name, and without input-only fields.
    private func resource(named name: ResourceName, fields: [String: JSONValue]) -> JSONValue {
        var shown = fields.filter { name.service.schema.fields[$0.key]?.direction != .inputOnly }
        shown["name"] = .string(name.description)
        if var location = shown["lastLocation"]?.objectValue {
            location = location.filter { MessageSchema.location.fields[$0.key]?.direction != .inputOnly }
            // Clients that read the vehicle expect the position under `location`, even if it was sent under another
            // key.
            if location["location"] == nil, let supplemental = location["supplementalLocation"] {
                location["location"] = supplemental
                location["updateTime"] = location["supplementalLocationTime"]
                location["latlngAccuracy"] = location["supplementalLocationAccuracy"]
                location["locationSensor"] =
                    location["supplementalLocationSensor"] ?? .string("CUSTOMER_SUPPLIED_LOCATION")
            }
            shown["lastLocation"] = .object(location)
        }
        return .object(shown)
    }
}

extension JSONValue {
    /// Returns the value at a path of nested keys; `nil` if there is none.
    fileprivate func value(at path: ArraySlice<String>) -> JSONValue? {
        guard let key = path.first else { return self }
        return self[key]?.value(at: path.dropFirst())
    }

    /// Returns a copy of this object in which the value at a path of nested keys is set, or removed if `value` is
    /// `nil`.
    fileprivate func setting(_ path: ArraySlice<String>, to value: JSONValue?) -> JSONValue {
        guard let key = path.first else { return value ?? .null }
        var members = objectValue ?? [:]
        if path.count == 1 {
            members[key] = value
        } else if value != nil || members[key] != nil {
            members[key] = (members[key] ?? .object([:])).setting(path.dropFirst(), to: value)
        }
        return .object(members)
    }
}

/// An update that was committed, in the form in which the record stores it.
package struct AcceptedUpdate: Sendable, Hashable {
    package struct Position: Sendable, Hashable {
        /// Whether the position is the last location rather than a past location.
        package let isLast: Bool
        /// The time of the position, as measured by the sensor; `nil` if the client didn't state it.
        package let time: WireTime?
        package let latitude: Double
        package let longitude: Double
        package let speedMetersPerSecond: Double?
        package let headingDegrees: Int?
        package let accuracyMeters: Double?
        /// The age of the fix in seconds; `nil` unless the client states that the position repeats an earlier one.
        package let timeSinceUpdateSeconds: Int?

        /// Creates a position from a validated location message. Returns `nil` if the message has no coordinates.
        init?(_ location: JSONValue, isLast: Bool) {
            let sources = [
                ("supplementalLocation", "supplementalLocationTime", "supplementalLocationAccuracy"),
                ("location", "updateTime", "latlngAccuracy"), ("rawLocation", "rawLocationTime", "rawLocationAccuracy"),
            ]
            guard let (place, time, accuracy) = sources.first(where: { location[$0.0] != nil }) else { return nil }
            self.isLast = isLast
            self.time = location[time]?.stringValue.flatMap(WireTime.init)
            latitude = location[place]?["latitude"]?.doubleValue ?? 0
            longitude = location[place]?["longitude"]?.doubleValue ?? 0
            speedMetersPerSecond = location["speed"]?.doubleValue
            headingDegrees = (location["heading"]?.integerValue).map(Int.init)
            accuracyMeters = location[accuracy]?.doubleValue
            timeSinceUpdateSeconds = (location["timeSinceUpdate"]?.integerValue).map(Int.init)
        }
    }

    package let vehicle: ResourceName
    /// The past locations in the order of the message, then the last location.
    package let positions: [Position]
    package let vehicleState: String?
}

/// The vehicles that can be read although no request has created them.
package enum VehicleExistence: Sendable, Hashable {
    /// Every vehicle. Reading a vehicle succeeds even before its first update, which then creates it.
    case onFirstUse
    /// Only vehicles with these ids. Requests for any other vehicle get 404 until a request creates it.
    case listed(Set<String>)

    func covers(_ id: String) -> Bool {
        switch self {
        case .onFirstUse: true
        case .listed(let ids): ids.contains(id)
        }
    }
}
