import FleetEngine

/// How the two services differ on the wire, seen from the server.
extension FleetService {
    var updateVerb: String {
        switch self {
        case .onDemandTrips: "PUT"
        case .scheduledTasks: "PATCH"
        }
    }

    /// The private claim that binds a token to a vehicle.
    var claim: String {
        switch self {
        case .onDemandTrips: "vehicleid"
        case .scheduledTasks: "deliveryvehicleid"
        }
    }

    /// The query parameter that names a new vehicle.
    var idParameter: String {
        switch self {
        case .onDemandTrips: "vehicleId"
        case .scheduledTasks: "deliveryVehicleId"
        }
    }

    var schema: MessageSchema {
        switch self {
        case .onDemandTrips: .vehicle
        case .scheduledTasks: .deliveryVehicle
        }
    }

    /// What a new vehicle must state.
    var requiredAtCreation: [String] {
        switch self {
        case .onDemandTrips: ["vehicleState", "supportedTripTypes", "maximumCapacity", "vehicleType"]
        case .scheduledTasks: []
        }
    }

    /// What a new vehicle may state; `nil` for everything that is not the server's.
    var allowedAtCreation: Set<String>? {
        switch self {
        case .onDemandTrips: nil
        case .scheduledTasks: ["type", "lastLocation", "attributes", "name"]
        }
    }
}
