package import HTTPMessages
import StrictJSON
import TimeAndRandomness

/// The changes to a vehicle that an `UpdateVehicle` or `UpdateDeliveryVehicle` request contains.
package struct VehicleUpdate: Sendable, Hashable {
    package var vehicle: VehicleName
    /// The state of an on-demand vehicle. Every update contains the state if it is known, so that the next update makes
    /// up for a lost change of state. `nil` if it is unknown, and for scheduled vehicles, which have no state.
    package var state: VehicleState?
    package var lastLocation: VehicleLocation?
    /// Older positions that could not be reported when they were current, in order of time.
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

    /// The names of the fields in the body, separated by commas. Fleet Engine would clear a field that is in this mask
    /// but not in the body.
    package var updateMask: String {
        var fields: [String] = []
        if state != nil { fields.append("vehicleState") }
        if lastLocation != nil { fields.append("lastLocation") }
        if !pastLocations.isEmpty { fields.append("pastLocations") }
        return fields.joined(separator: ",")
    }

    /// Returns the HTTP request for this update, authorised by `token`.
    ///
    /// - Throws: An error if the vehicle's path can't be appended to `endpoint`. Nothing else in an update can fail to
    ///   encode.
    package func request(
        to endpoint: HTTPURL, token: String, limits: HTTPLimits
    ) throws(HTTPURL.Problem) -> HTTPRequest {
        let mask = updateMask
        precondition(!mask.isEmpty, "an update with an empty mask changes nothing and is rejected")
        let url = try vehicle.url(below: endpoint, query: "updateMask=" + mask)
        // The response needs to contain only the vehicle's name, which proves that Fleet Engine sent it. This field
        // mask is sent as a header because headers are compressed, and because servers that don't know the header
        // ignore it (cloud.google.com/apis/docs/system-parameters).
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

    /// The body of the request: a vehicle resource that contains only the changed fields, as JSON.
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

/// A location in Fleet Engine's form. It becomes a `VehicleLocation` or a `DeliveryVehicleLocation`, which have the
/// same fields.
///
/// Positions from devices other than phones are sent as `supplementalLocation`, with time, sensor and accuracy (Fleet
/// Engine guide, "Update a vehicle location"). An unknown value is `nil`.
package struct VehicleLocation: Sendable, Hashable {
    /// The coordinates in degrees, WGS 84.
    package var latitude: Double
    package var longitude: Double
    /// The time at which the position was measured, in milliseconds since 1970 UTC.
    package var timeMillisecondsSince1970: Int64
    /// The horizontal accuracy, as a radius in metres.
    package var accuracyMeters: Double?
    /// The heading in whole degrees clockwise from north, 0...359.
    package var headingDegrees: Int?
    package var speedMetersPerSecond: Double?
    /// The altitude above the WGS 84 ellipsoid, in metres.
    package var altitudeMeters: Double?
    /// The time since this location was first sent, in seconds; `nil` if it hasn't been sent before.
    package var secondsSinceFirstSent: Int?

    package init(latitude: Double, longitude: Double, timeMillisecondsSince1970: Int64) {
        self.latitude = latitude
        self.longitude = longitude
        self.timeMillisecondsSince1970 = timeMillisecondsSince1970
    }
}

extension VehicleLocation {
    /// Returns the location as JSON. `namesSensor` is `false` for past locations, because there may be many of them.
    /// Fleet Engine assumes the same sensor for a location that names none.
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

    /// Returns `value`, rounded to a multiple of `1 / scale`. Receivers are accurate to a centimetre at best, which is
    /// about 1e-7 degrees, so more digits would be noise.
    private static func rounded(_ value: Double, scale: Double) -> JSONValue {
        .number((value * scale).rounded() / scale)
    }
}

/// The state of an on-demand vehicle, which says whether it accepts new trips (`maps.fleetengine.v1.VehicleState`).
package enum VehicleState: String, Sendable, Hashable, CaseIterable {
    case online = "ONLINE"
    case offline = "OFFLINE"
}
