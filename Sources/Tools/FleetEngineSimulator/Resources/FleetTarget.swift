package import FleetEngine
import HTTPMessages
import HTTPService

/// The resource that a request addresses, parsed from the path after `/v1`.
enum FleetTarget {
    case vehicles(provider: String, FleetService)
    case vehicle(ResourceName)
    case trip(provider: String, id: String)

    init(_ path: ArraySlice<String>) throws(ErrorAnswer) {
        let parts = Array(path)
        guard (3...4).contains(parts.count), parts[0] == "providers" else { throw Self.unknownMethod }
        let service = FleetService.allCases.first { $0.collection == parts[2] }
        guard service != nil || (parts[2] == "trips" && parts.count == 4) else { throw Self.unknownMethod }
        guard !parts[1].isEmpty else { throw .invalid(field: "name", "the provider is empty") }
        guard parts.count == 4 else {
            self = .vehicles(provider: parts[1], service ?? .onDemandTrips)
            return
        }
        if let problem = ResourceName.problem(withID: parts[3]) { throw .invalid(field: "name", problem) }
        if let service {
            self = .vehicle(ResourceName(provider: parts[1], service: service, id: parts[3]))
        } else {
            self = .trip(provider: parts[1], id: parts[3])
        }
    }

    var provider: String {
        switch self {
        case .vehicles(let provider, _), .trip(let provider, _): provider
        case .vehicle(let name): name.provider
        }
    }

    private static let unknownMethod = ErrorAnswer.notFound("Method not found: the path doesn't exist")
}

/// The query parameters of a request to Fleet Engine. An unknown parameter is an error.
struct FleetQuery {
    private var parameters: [String: String] = [:]
    /// The fields to return; `nil` returns all. Clients list them in `$fields`, a system parameter of all Google APIs,
    /// or in a header. Only top-level fields are supported.
    let answerFields: [String]?

    private static let headerFields: Set<String> = [
        "languageCode", "regionCode", "sdkVersion", "osVersion", "deviceModel", "sdkType", "mapsSdkVersion",
        "navSdkVersion", "platform", "manufacturer", "androidApiLevel", "traceId",
    ]
    private static let parameterNames: Set<String> = [
        "updateMask", "vehicleId", "deliveryVehicleId", "currentRouteSegmentVersion", "waypointsVersion", "alt",
        "prettyPrint", "$alt", "view", "fields", "$fields",
    ]
    private static let viewNames: Set<String> = ["TRIP_VIEW_UNSPECIFIED", "SDK", "JOURNEY_SHARING_V1S"]

    init(_ request: ServedRequest) throws(ErrorAnswer) {
        guard let items = request.queryItems else { throw .invalid("the query's percent-encoding is malformed") }
        for (written, value) in items {
            let name = written == "update_mask" ? "updateMask" : written
            let isHeader = name.hasPrefix("header.") && Self.headerFields.contains(String(name.dropFirst(7)))
            guard Self.parameterNames.contains(name) || isHeader else {
                throw .invalid(
                    field: written,
                    "Unknown name \"\(written)\": Cannot bind query parameter. Field could not be found.")
            }
            guard parameters.updateValue(value, forKey: name) == nil else {
                throw .invalid(field: written, "the parameter occurs twice")
            }
        }
        if let view = parameters["view"], !Self.viewNames.contains(view) {
            throw .invalid(field: "view", "Invalid value at 'view' (type.googleapis.com/maps.fleetengine.v1.TripView)")
        }
        if parameters.keys.contains(where: { $0.hasPrefix("header.") }), parameters["header.regionCode"] == nil {
            throw .invalid(field: "header.regionCode", "is required when a header is sent")
        }
        let fields = request.headers["X-Goog-FieldMask"] ?? parameters["$fields"] ?? parameters["fields"]
        answerFields = fields?.split(separator: ",").map { String($0) }
    }

    var updateMask: String? { parameters["updateMask"] }

    func newVehicleID(for service: FleetService) -> String? { parameters[service.idParameter] }

    static func checkContentType(_ request: ServedRequest) throws(ErrorAnswer) {
        let type = request.headers["Content-Type"]?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else {
            throw .invalid("The body must be JSON: send Content-Type: application/json, not \(type ?? "nothing").")
        }
    }
}

/// The resource name of a vehicle, such as `providers/{provider}/vehicles/{id}`.
package struct ResourceName: Sendable, Hashable, CustomStringConvertible {
    package let provider: String
    package let service: FleetService
    package let id: String

    package init(provider: String, service: FleetService, id: String) {
        self.provider = provider
        self.service = service
        self.id = id
    }

    package var description: String { "providers/\(provider)/\(service.collection)/\(id)" }

    /// Returns the reason why the id of a vehicle, trip or task is invalid; `nil` if the id is valid.
    static func problem(withID id: String) -> String? {
        if id.isEmpty { return "the id is empty" }
        if id.count > 64 { return "the id is longer than 64 characters" }
        if let scalar = id.unicodeScalars.first(where: { "/:?,#".unicodeScalars.contains($0) || $0.value < 0x20 }) {
            return "the id contains \"\(scalar)\""
        }
        // The standard library has no public API for Unicode normalisation, so an underscored one is used.
        if !id.utf8.elementsEqual(id._nfcCodeUnits) { return "the id is not in Unicode Normalization Form C" }
        return nil
    }
}

/// The permissions that a token's private claims give. A claim permits access to the resource whose id it contains, or
/// to all resources if it contains `*`.
enum FleetPermission {
    /// Checks that a token's claim permits access to a resource. A vehicle requires the token of its driver or of a
    /// server. A trip requires the token of its consumer or of a server.
    static func check(_ claims: TokenClaims, claim: String, id: String, resource: String) throws(ErrorAnswer) {
        guard let allowed = claims.authorization[claim] else {
            throw .permissionDenied("the token has no \(claim) claim, which \(resource) require")
        }
        guard allowed == id || allowed == "*" else {
            throw .permissionDenied("the token's \(claim) claim does not match the id in the URL")
        }
    }
}

/// The differences between the requests to Fleet Engine's two services.
extension FleetService {
    var updateVerb: String { self == .onDemandTrips ? "PUT" : "PATCH" }
    /// The private claim that binds a token to a vehicle.
    var claim: String { self == .onDemandTrips ? "vehicleid" : "deliveryvehicleid" }
    /// The query parameter with the id of the vehicle to create.
    var idParameter: String { self == .onDemandTrips ? "vehicleId" : "deliveryVehicleId" }
    var schema: MessageSchema { self == .onDemandTrips ? .vehicle : .deliveryVehicle }

    /// The fields that a request to create a vehicle must contain.
    var requiredAtCreation: [String] {
        self == .onDemandTrips ? ["vehicleState", "supportedTripTypes", "maximumCapacity", "vehicleType"] : []
    }

    /// The fields that a request to create a vehicle may contain; `nil` permits all fields that a client may set.
    var allowedAtCreation: Set<String>? {
        self == .onDemandTrips ? nil : ["type", "lastLocation", "attributes", "name"]
    }
}
