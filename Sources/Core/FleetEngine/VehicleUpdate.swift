package import HTTPMessages
import StrictJSON
import TimeAndChance

/// One `UpdateVehicle` or `UpdateDeliveryVehicle` call: what changes of a vehicle.
package struct VehicleUpdate: Sendable, Hashable {
    package var vehicle: VehicleName
    /// Goes with every update of an on-demand vehicle whose state is known, so that a lost change of state heals
    /// itself; scheduled vehicles have none.
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
        let mask = updateMask
        precondition(!mask.isEmpty, "an update with an empty mask changes nothing and is refused")
        let url = try vehicle.url(at: endpoint, query: "updateMask=" + mask)
        // The answer need not repeat the vehicle; that it names it proves who answers. As a header, which is compressed
        // and which nobody refuses who does not know it (cloud.google.com/apis/docs/system-parameters).
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

    /// The resource as JSON.
    package var body: [UInt8] {
        var resource: [String: JSONValue] = [:]
        resource["vehicleState"] = (state?.rawValue).map(JSONValue.string)
        resource["lastLocation"] = lastLocation?.message(namesSensor: true)
        if !pastLocations.isEmpty {
            resource["pastLocations"] = .array(pastLocations.map { $0.message(namesSensor: false) })
        }
        return JSONValue.object(resource).utf8
    }
}

/// A position in Fleet Engine's words: `VehicleLocation` and `DeliveryVehicleLocation`, which are the same message.
///
/// Positions that do not come from a phone go out as `supplementalLocation` with their time, sensor and accuracy
/// (Fleet Engine guide, "Update a vehicle location").
package struct VehicleLocation: Sendable, Hashable {
    /// Degrees, WGS 84.
    package var latitude: Double
    package var longitude: Double
    /// When the receiver measured it, in milliseconds since 1970 UTC.
    package var timeMillisecondsSince1970: Int64
    /// Radius in metres.
    package var accuracyMeters: Double?
    /// Whole degrees from north, 0...359.
    package var headingDegrees: Int?
    package var speedMetersPerSecond: Double?
    /// Above the WGS 84 ellipsoid.
    package var altitudeMeters: Double?
    /// Seconds since this same location was first sent; only for a repetition.
    package var secondsSinceFirstSent: Int?

    package init(latitude: Double, longitude: Double, timeMillisecondsSince1970: Int64) {
        (self.latitude, self.longitude) = (latitude, longitude)
        self.timeMillisecondsSince1970 = timeMillisecondsSince1970
    }
}

extension VehicleLocation {
    /// `namesSensor`: Fleet Engine takes a supplemental location that names none for the same, and there may be many.
    fileprivate func message(namesSensor: Bool) -> JSONValue {
        var message: [String: JSONValue] = [
            "supplementalLocation": .object([
                "latitude": Self.rounded(latitude, 1e7), "longitude": Self.rounded(longitude, 1e7),
            ]),
            "supplementalLocationTime": .string(
                UTCTime(millisecondsSince1970: timeMillisecondsSince1970).shortestDescription),
        ]
        if namesSensor { message["supplementalLocationSensor"] = .string("CUSTOMER_SUPPLIED_LOCATION") }
        message["supplementalLocationAccuracy"] = accuracyMeters.map { Self.rounded($0, 1e2) }
        message["heading"] = headingDegrees.map { .integer(Int64($0)) }
        message["speed"] = speedMetersPerSecond.map { Self.rounded($0, 1e2) }
        message["altitude"] = altitudeMeters.map { Self.rounded($0, 1e2) }
        message["timeSinceUpdate"] = secondsSinceFirstSent.map { .integer(Int64($0)) }
        return .object(message)
    }

    /// A centimetre, the best a receiver gives, is 1e-7 degrees; more digits are bytes without meaning.
    private static func rounded(_ value: Double, _ scale: Double) -> JSONValue {
        .number((value * scale).rounded() / scale)
    }
}

/// Whether an on-demand vehicle takes new trips (`maps.fleetengine.v1.VehicleState`).
package enum VehicleState: String, Sendable, Hashable, CaseIterable {
    case online = "ONLINE"
    case offline = "OFFLINE"
}
