import FoundationEssentials
package import HTTPMessages

/// One `UpdateVehicle` or `UpdateDeliveryVehicle` call: what changes of a vehicle.
package struct VehicleUpdate: Sendable, Hashable {
    package var vehicle: VehicleName
    /// Goes with every update of an on-demand vehicle, so that a lost change of state heals itself; scheduled vehicles
    /// have none.
    package var state: VehicleState?
    package var lastLocation: VehicleLocation?
    /// Older positions that could not be reported, in order of time.
    package var pastLocations: [VehicleLocation]

    package init(
        of vehicle: VehicleName, state: VehicleState? = nil, lastLocation: VehicleLocation? = nil,
        pastLocations: [VehicleLocation] = []
    ) {
        self.vehicle = vehicle
        self.state = vehicle.service == .onDemandTrips ? state : nil
        self.lastLocation = lastLocation
        self.pastLocations = pastLocations
    }

    /// The fields that the body carries; a masked field that is absent would be cleared.
    package var updateMask: String {
        var fields: [String] = []
        if state != nil { fields.append("vehicleState") }
        if lastLocation != nil { fields.append("lastLocation") }
        if !pastLocations.isEmpty { fields.append("pastLocations") }
        return fields.joined(separator: ",")
    }

    /// The request with `token` in it.
    ///
    /// - Throws: when `endpoint` cannot carry the vehicle's path; nothing else in an update can fail to encode.
    package func request(
        to endpoint: HTTPURL, token: String, limits: HTTPLimits
    ) throws(HTTPURL.Problem) -> HTTPRequest {
        precondition(!updateMask.isEmpty, "an update with an empty mask changes nothing and is refused")
        let url = try vehicle.url(at: endpoint, query: "updateMask=" + updateMask)
        let headers: HTTPHeaders = HTTPHeaders([
            "Authorization": "Bearer " + token, "Content-Type": "application/json",
        ])
        let method: HTTPMethod =
            switch vehicle.service {
            case .onDemandTrips: .put
            case .scheduledTasks: .patch
            }
        return HTTPRequest(method, url, headers: headers, body: body, limits: limits)
    }

    /// The resource as JSON.
    package var body: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let resource = Resource(
            vehicleState: state, lastLocation: lastLocation, pastLocations: pastLocations.isEmpty ? nil : pastLocations)
        do { return Array(try encoder.encode(resource)) } catch {
            preconditionFailure("a position that is not finite passed the plausibility check: \(error)")
        }
    }

    private struct Resource: Encodable {
        let vehicleState: VehicleState?
        let lastLocation: VehicleLocation?
        let pastLocations: [VehicleLocation]?
    }
}
