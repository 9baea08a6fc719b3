package import HTTPMessages
import StrictJSON
import TimeAndChance

/// An `UpdateVehicle` or `UpdateDeliveryVehicle` request: the changes to a vehicle.
package struct VehicleUpdate: Sendable, Hashable {
    package var vehicle: VehicleName
    /// The vehicle's state. It is sent with every update of an on-demand vehicle whose state is known, so that a lost
    /// change of state repairs itself. `nil` for scheduled vehicles, which have no state.
    package var state: VehicleState?
    package var lastLocation: VehicleLocation?
    /// Older positions that could not be reported earlier, in order of time.
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

    /// The names of the fields in the body. Fleet Engine would clear a field that is in the mask but not in the body.
    package var updateMask: String {
        var fields: [String] = []
        if state != nil { fields.append("vehicleState") }
        if lastLocation != nil { fields.append("lastLocation") }
        if !pastLocations.isEmpty { fields.append("pastLocations") }
        return fields.joined(separator: ",")
    }

    /// Returns the request, authorized by `token`.
    ///
    /// - Throws: if the vehicle's path can't be appended to `endpoint`. Nothing else in an update can fail to encode.
    package func request(
        to endpoint: HTTPURL, token: String, limits: HTTPLimits
    ) throws(HTTPURL.Problem) -> HTTPRequest {
        let mask = updateMask
        precondition(!mask.isEmpty, "an update with an empty mask changes nothing and is rejected")
        let url = try vehicle.url(below: endpoint, query: "updateMask=" + mask)
        // The answer needn't repeat the vehicle, but its name proves which server has answered. The mask is sent as a
        // header because headers are compressed, and because servers that don't know the header ignore it
        // (cloud.google.com/apis/docs/system-parameters).
        let headers: HTTPHeaders = HTTPHeaders([
            "Authorization": "Bearer " + token, "Content-Type": "application/json", "X-Goog-FieldMask": "name",
        ])
        let method: HTTPMethod =
            switch vehicle.service {
            case .onDemandTrips: .put
            case .scheduledTasks: .patch
            }
        return HTTPRequest(method, url, headers: headers, body: body, limits: limits)
    }

    /// The body: the resource as JSON.
    package var body: [UInt8] {
        var resource: [String: JSONValue] = [:]
        resource["vehicleState"] = (state?.rawValue).map(JSONValue.string)
        resource["lastLocation"] = lastLocation?.json(namesSensor: true)
        if !pastLocations.isEmpty {
            resource["pastLocations"] = .array(pastLocations.map { $0.json(namesSensor: false) })
        }
        return JSONValue.object(resource).utf8
    }
}

/// A position in Fleet Engine's form: `VehicleLocation` or `DeliveryVehicleLocation`, which have the same fields.
///
/// Positions from devices other than phones are sent as `supplementalLocation`, with time, sensor and accuracy (Fleet
/// Engine guide, "Update a vehicle location").
package struct VehicleLocation: Sendable, Hashable {
    /// The coordinates in degrees, WGS 84.
    package var latitude: Double
    package var longitude: Double
    /// The time of measurement, in milliseconds since 1970 UTC.
    package var timeMillisecondsSince1970: Int64
    /// The accuracy radius in metres.
    package var accuracyMeters: Double?
    /// Whole degrees from north, 0...359.
    package var headingDegrees: Int?
    package var speedMetersPerSecond: Double?
    /// The altitude above the WGS 84 ellipsoid.
    package var altitudeMeters: Double?
    /// The seconds since this location was first sent; `nil` unless it is sent again.
    package var secondsSinceFirstSent: Int?

    package init(latitude: Double, longitude: Double, timeMillisecondsSince1970: Int64) {
        self.latitude = latitude
        self.longitude = longitude
        self.timeMillisecondsSince1970 = timeMillisecondsSince1970
    }
}

extension VehicleLocation {
    /// Returns the location as JSON. `namesSensor` is false for past locations, because there may be many, and Fleet
    /// Engine assumes the same sensor for a location without one.
    fileprivate func json(namesSensor: Bool) -> JSONValue {
        var message: [String: JSONValue] = [
            "supplementalLocation": .object([
                "latitude": Self.rounded(latitude, scale: 1e7), "longitude": Self.rounded(longitude, scale: 1e7),
            ]),
            "supplementalLocationTime": .string(
                UTCTime(millisecondsSince1970: timeMillisecondsSince1970).shortestDescription),
        ]
        if namesSensor { message["supplementalLocationSensor"] = .string("CUSTOMER_SUPPLIED_LOCATION") }
        message["supplementalLocationAccuracy"] = accuracyMeters.map { Self.rounded($0, scale: 1e2) }
        message["heading"] = headingDegrees.map { .integer(Int64($0)) }
        message["speed"] = speedMetersPerSecond.map { Self.rounded($0, scale: 1e2) }
        message["altitude"] = altitudeMeters.map { Self.rounded($0, scale: 1e2) }
        message["timeSinceUpdate"] = secondsSinceFirstSent.map { .integer(Int64($0)) }
        return .object(message)
    }

    /// Rounds a value to multiples of `1 / scale`. A centimetre, the best accuracy of a receiver, is 1e-7 degrees; more
    /// digits would be noise.
    private static func rounded(_ value: Double, scale: Double) -> JSONValue {
        .number((value * scale).rounded() / scale)
    }
}

/// The state of an on-demand vehicle: whether it accepts new trips (`maps.fleetengine.v1.VehicleState`).
package enum VehicleState: String, Sendable, Hashable, CaseIterable {
    case online = "ONLINE"
    case offline = "OFFLINE"
}
