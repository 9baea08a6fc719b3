package import HTTPMessages

/// The resource name of a vehicle, which determines the URL of its updates.
package struct VehicleName: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a string isn't a valid provider or vehicle id.
    package enum Problem: Error, Sendable, Hashable, CustomStringConvertible {
        case empty
        case tooLong(Int)
        case forbiddenCharacter(Character)
        case isResourceName
        case notNormalized(Unicode.Scalar)

        package var description: String {
            switch self {
            case .empty: "is empty"
            case .tooLong(let count): "is \(count) characters long; Fleet Engine accepts at most 64"
            case .forbiddenCharacter(let character):
                "contains \"\(character)\"; leave out / : ? , # and control characters"
            case .isResourceName:
                "is the name of a resource; write only the id, without \"providers/\" and the rest of the name"
            case .notNormalized(let scalar):
                "contains the combining mark U+\(String(scalar.value, radix: 16, uppercase: true)); "
                    + "write it in Unicode Normalization Form C"
            }
        }
    }

    package let service: FleetService
    package let providerID: String
    package let vehicleID: String

    package init(service: FleetService, providerID: String, vehicleID: String) throws(Problem) {
        try Self.validate(providerID)
        try Self.validate(vehicleID)
        self.service = service
        self.providerID = providerID
        self.vehicleID = vehicleID
    }

    /// Checks that `id` follows the rules for ids (reference of `CreateVehicleRequest.vehicle_id`). An id must be at
    /// most 64 characters long and in Normalization Form C. It must contain neither control characters nor any of the
    /// characters `/:?,#`.
    package static func validate(_ id: String) throws(Problem) {
        guard !id.isEmpty else { throw .empty }
        guard !id.hasPrefix("providers/") else { throw .isResourceName }
        guard id.unicodeScalars.count <= 64 else { throw .tooLong(id.unicodeScalars.count) }
        for scalar in id.unicodeScalars {
            if "/:?,#".unicodeScalars.contains(scalar) || scalar.properties.generalCategory == .control {
                throw .forbiddenCharacter(Character(scalar))
            }
            // Text that isn't composed always contains a combining mark. Composed text rarely contains such marks, so
            // every combining mark is rejected.
            if scalar.properties.canonicalCombiningClass != .notReordered { throw .notNormalized(scalar) }
        }
    }

    /// The resource name as it appears in responses, such as `providers/{provider}/vehicles/{vehicle}`.
    package var description: String { "providers/\(providerID)/\(service.collection)/\(vehicleID)" }

    /// Returns the URL of the vehicle below `endpoint`.
    package func url(below endpoint: HTTPURL, query: String = "") throws(HTTPURL.Problem) -> HTTPURL {
        try endpoint.appending(
            target: "/v1/providers/\(HTTPURL.percentEncoded(providerID))/\(service.collection)/"
                + HTTPURL.percentEncoded(vehicleID) + (query.isEmpty ? "" : "?" + query))
    }
}

/// The resource name of a trip, which determines the URL from which a consumer reads the trip.
package struct TripName: Sendable, Hashable, CustomStringConvertible {
    package let providerID: String
    package let tripID: String

    /// Creates the name of a trip. Both ids must follow the same rules as a vehicle's ids.
    package init(providerID: String, tripID: String) throws(VehicleName.Problem) {
        try VehicleName.validate(providerID)
        try VehicleName.validate(tripID)
        self.providerID = providerID
        self.tripID = tripID
    }

    /// The resource name as it appears in responses, `providers/{provider}/trips/{trip}`.
    package var description: String { "providers/\(providerID)/trips/\(tripID)" }

    /// Returns the URL of the trip below `endpoint`.
    package func url(below endpoint: HTTPURL, query: String = "") throws(HTTPURL.Problem) -> HTTPURL {
        try endpoint.appending(
            target: "/v1/providers/\(HTTPURL.percentEncoded(providerID))/trips/\(HTTPURL.percentEncoded(tripID))"
                + (query.isEmpty ? "" : "?" + query))
    }
}

/// The Fleet Engine service to which a vehicle belongs.
package enum FleetService: String, Sendable, Hashable, CaseIterable {
    /// On-demand rides and deliveries. Vehicles are named `providers/*/vehicles/*`, are updated with PUT, and have a
    /// state.
    case onDemandTrips
    /// Scheduled tasks. Vehicles are named `providers/*/deliveryVehicles/*`, are updated with PATCH, and have no state.
    case scheduledTasks

    /// The name of the vehicle collection in resource names and URLs.
    package var collection: String {
        switch self {
        case .onDemandTrips: "vehicles"
        case .scheduledTasks: "deliveryVehicles"
        }
    }
}
