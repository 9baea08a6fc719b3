import ReportedText
package import StrictJSON
import TimeAndRandomness

/// The state of a trip or vehicle at one moment, as a consumer sees it. It contains those members of Fleet Engine's
/// `Trip`, `Vehicle` and `DeliveryVehicle` that change during a drive. All other members of a response are ignored. A
/// value that the response doesn't contain is `nil`.
public struct FollowedSnapshot: Sendable, Hashable {
    /// The last location of a vehicle that Fleet Engine knows.
    public struct Position: Sendable, Hashable {
        /// The latitude in degrees, WGS 84.
        public var latitude: Double
        /// The longitude in degrees, WGS 84.
        public var longitude: Double
        /// The time at which the position was measured, in milliseconds since 1970 UTC; `nil` if the sender didn't
        /// report it.
        public var timeOfFixMillisecondsSince1970: Int64?
        /// The horizontal accuracy, as a radius in metres.
        public var accuracyMeters: Double?
        /// The heading in whole degrees clockwise from north.
        public var headingDegrees: Int?
        /// The speed in metres per second.
        public var speedMetersPerSecond: Double?

        /// Creates a position that contains only coordinates.
        package init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// The trip's status (such as `ENROUTE_TO_PICKUP`) or the vehicle's state (such as `ONLINE`), in Fleet Engine's
    /// spelling.
    public var status: String?
    /// The id of the vehicle that is assigned to the trip. `nil` if no vehicle is assigned yet, and in a snapshot of a
    /// vehicle.
    public var vehicleID: String?
    /// The vehicle's position; `nil` until the vehicle has reported one.
    public var position: Position?
    /// The distance to the next waypoint, in metres.
    public var remainingDistanceMeters: Int?
    /// The estimated time of arrival at the next waypoint, in milliseconds since 1970 UTC.
    public var arrivalMillisecondsSince1970: Int64?
    /// The time to the next waypoint, in seconds. Scheduled tasks have this instead of the time of arrival.
    public var remainingSeconds: Double?
    /// The version of the route in this response. The next request contains it, so that Fleet Engine can omit an
    /// unchanged route.
    package var routeVersion: String?

    package init() {}

    /// Whether the trip has ended.
    public var isOver: Bool { status == "COMPLETE" || status == "CANCELED" }

    /// Whether the status, the vehicle, its position or the remaining distance has changed. A time of arrival that has
    /// only been recomputed is ignored.
    package func differs(from earlier: FollowedSnapshot) -> Bool {
        (status, vehicleID, position) != (earlier.status, earlier.vehicleID, earlier.position)
            || remainingDistanceMeters != earlier.remainingDistanceMeters
    }
}

extension FollowedSnapshot {
    /// Reads the resource in a response. Returns `nil` if the resource isn't named `name`.
    ///
    /// `secrets` are the secrets of the request, which are removed from the status and the vehicle's id.
    package init?(_ resource: JSONValue, named name: String, without secrets: [String] = []) {
        guard resource["name"]?.stringValue == name else { return nil }
        self.init()
        status = (resource["tripStatus"] ?? resource["vehicleState"])?.stringValue.map {
            ReportedText($0, without: secrets).description
        }
        vehicleID = resource["vehicleId"]?.stringValue.map { Self.redacted(vehicleID: $0, without: secrets) }
        position = resource["lastLocation"].flatMap(Position.init)
        remainingDistanceMeters = resource["remainingDistanceMeters"]?.wholeNumber
        arrivalMillisecondsSince1970 = resource["etaToFirstWaypoint"]?.time
        remainingSeconds = (resource["remainingTimeToFirstWaypoint"] ?? resource["remainingDuration"])?.seconds
        routeVersion = resource["currentRouteSegmentVersion"]?.stringValue
    }
}

extension FollowedSnapshot {
    /// Returns a vehicle's id without secrets. The id is redacted as part of `vehicles/ID`, so that an id that only
    /// looks like a secret is kept.
    private static func redacted(vehicleID: String, without secrets: [String]) -> String {
        let collection = "vehicles/"
        return String(ReportedText(collection + vehicleID, without: secrets).description.dropFirst(collection.count))
    }
}

extension FollowedSnapshot.Position {
    /// Reads a location message. Returns `nil` if it has no valid coordinates.
    ///
    /// The field `location` is preferred, because it is the position that Fleet Engine shows. If it is missing, another
    /// field is used.
    fileprivate init?(_ message: JSONValue) {
        let places = [
            ("location", "updateTime", "latlngAccuracy"),
            ("supplementalLocation", "supplementalLocationTime", "supplementalLocationAccuracy"),
            ("rawLocation", "rawLocationTime", "rawLocationAccuracy"),
        ]
        guard let (place, time, accuracy) = places.first(where: { message[$0.0]?.objectValue != nil }),
            let latitude = Self.coordinate(message[place]?["latitude"], upTo: 90),
            let longitude = Self.coordinate(message[place]?["longitude"], upTo: 180)
        else { return nil }
        self.init(latitude: latitude, longitude: longitude)
        timeOfFixMillisecondsSince1970 = message[time]?.time
        accuracyMeters = message[accuracy]?.finiteNumber
        headingDegrees = message["heading"]?.wholeNumber
        speedMetersPerSecond = message["speed"]?.finiteNumber
    }

    /// Reads a coordinate. A missing value means zero, because protobuf's JSON mapping may omit zeros. Returns `nil` if
    /// the value is out of range.
    private static func coordinate(_ value: JSONValue?, upTo limit: Double) -> Double? {
        guard let value, value != .null else { return 0 }
        return value.finiteNumber.flatMap { abs($0) <= limit ? $0 : nil }
    }
}

extension JSONValue {
    /// The value of a number, or of a string that contains a number. `nil` for `"NaN"` and `"Infinity"`, which
    /// protobuf's JSON mapping allows.
    fileprivate var finiteNumber: Double? {
        (doubleValue ?? stringValue.flatMap(Double.init)).flatMap { $0.isFinite ? $0 : nil }
    }
    /// The value of a whole number, which protobuf's JSON mapping may write as a string.
    fileprivate var wholeNumber: Int? { integerValue.map(Int.init) ?? stringValue.flatMap { Int($0) } }
    fileprivate var time: Int64? { stringValue.flatMap(UTCTime.init(rfc3339:))?.millisecondsSince1970 }
    fileprivate var seconds: Double? {
        stringValue.flatMap { $0.hasSuffix("s") ? Double($0.dropLast()) : nil }.flatMap { $0.isFinite ? $0 : nil }
    }
}
