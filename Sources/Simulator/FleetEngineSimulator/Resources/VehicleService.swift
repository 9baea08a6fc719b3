/// The two Fleet Engine services and how they differ on the wire.
package enum VehicleService: String, Sendable, Hashable, CaseIterable {
    case onDemand
    case scheduled

    /// The collection's name in a URL.
    package var collection: String {
        switch self {
        case .onDemand: "vehicles"
        case .scheduled: "deliveryVehicles"
        }
    }

    var updateVerb: String {
        switch self {
        case .onDemand: "PUT"
        case .scheduled: "PATCH"
        }
    }

    /// The private claim that binds a token to a vehicle.
    var claim: String {
        switch self {
        case .onDemand: "vehicleid"
        case .scheduled: "deliveryvehicleid"
        }
    }

    /// The query parameter that names a new vehicle.
    var idParameter: String {
        switch self {
        case .onDemand: "vehicleId"
        case .scheduled: "deliveryVehicleId"
        }
    }

    var schema: MessageSchema {
        switch self {
        case .onDemand: .vehicle
        case .scheduled: .deliveryVehicle
        }
    }

    /// What a new vehicle must state.
    var requiredAtCreation: [String] {
        switch self {
        case .onDemand: ["vehicleState", "supportedTripTypes", "maximumCapacity", "vehicleType"]
        case .scheduled: []
        }
    }

    /// What a new vehicle may state; `nil` for everything that is not the server's.
    var allowedAtCreation: Set<String>? {
        switch self {
        case .onDemand: nil
        case .scheduled: ["type", "lastLocation", "attributes", "name"]
        }
    }
}
