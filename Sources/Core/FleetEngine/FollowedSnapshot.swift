import ReportedText
package import StrictJSON
import TimeAndChance

/// A consumer's view of a trip or vehicle at one moment: the parts of Fleet Engine's `Trip`, `Vehicle` and
/// `DeliveryVehicle` that change during a drive. All other members of an answer are ignored.
public struct FollowedSnapshot: Sendable, Hashable {
    /// The vehicle's last location known to Fleet Engine.
    public struct Position: Sendable, Hashable {
        /// The latitude in degrees, WGS 84.
        public var latitude: Double
        /// The longitude in degrees, WGS 84.
        public var longitude: Double
        /// The time of measurement, in milliseconds since 1970 UTC; `nil` if the sender didn't report it.
        public var timeOfFixMillisecondsSince1970: Int64?
        /// The accuracy radius in metres.
        public var accuracyMeters: Double?
        /// Whole degrees from north.
        public var headingDegrees: Int?
        /// The speed in metres per second.
        public var speedMetersPerSecond: Double?

        /// Creates a position with coordinates only.
        package init(latitude: Double, longitude: Double) {
            self.latitude = latitude
            self.longitude = longitude
        }
    }

    /// The trip's status (such as `ENROUTE_TO_PICKUP`) or the vehicle's state (such as `ONLINE`), in Fleet Engine's
    /// spelling.
    public var status: String?
    /// The vehicle that drives the trip; `nil` for a vehicle itself, and before a vehicle is assigned.
    public var vehicleID: String?
    /// The vehicle's position; `nil` before its first report.
    public var position: Position?
    /// The distance to the next waypoint.
    public var remainingDistanceMeters: Int?
    /// The time of arrival at the next waypoint, in milliseconds since 1970 UTC.
    public var arrivalMillisecondsSince1970: Int64?
    /// The time to the next waypoint, in seconds. Scheduled tasks have this instead of the time of arrival.
    public var remainingSeconds: Double?
    /// The version of the route in the answer, for the next request.
    package var routeVersion: String?

    /// Creates an empty snapshot.
    package init() {}

    /// Whether the trip has ended.
    public var isOver: Bool { status == "COMPLETE" || status == "CANCELED" }

    /// Whether a value that people follow has changed. A recomputed time of arrival is ignored.
    package func differs(from earlier: FollowedSnapshot) -> Bool {
        (status, vehicleID, position) != (earlier.status, earlier.vehicleID, earlier.position)
            || remainingDistanceMeters != earlier.remainingDistanceMeters
    }
}

extension FollowedSnapshot {
    /// Reads the resource in an answer; `nil` if its name isn't `name`.
    ///
    /// `secrets` are the secrets in the request, which are removed from all strings.
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
    /// Returns the vehicle's id. It is redacted as part of `vehicles/ID`, so that an id that looks like a secret is
    /// kept.
    private static func redacted(vehicleID: String, without secrets: [String]) -> String {
        let collection = "vehicles/"
        return String(ReportedText(collection + vehicleID, without: secrets).description.dropFirst(collection.count))
    }
}

extension FollowedSnapshot.Position {
    /// Reads a location message; `nil` if it has no coordinates.
    ///
    /// `location` is the position that Fleet Engine shows. The other positions are used if it is missing.
    fileprivate init?(_ message: JSONValue) {
        let places = [
            ("location", "updateTime", "latlngAccuracy"),
            ("supplementalLocation", "supplementalLocationTime", "supplementalLocationAccuracy"),
            ("rawLocation", "rawLocationTime", "rawLocationAccuracy"),
        ]
        guard let (place, time, accuracy) = places.first(where: { message[$0.0]?.objectValue != nil }),
            let latitude = Self.degrees(message[place]?["latitude"], upTo: 90),
            let longitude = Self.degrees(message[place]?["longitude"], upTo: 180)
        else { return nil }
        self.init(latitude: latitude, longitude: longitude)
        timeOfFixMillisecondsSince1970 = message[time]?.time
        accuracyMeters = message[accuracy]?.finiteNumber
        headingDegrees = message["heading"]?.wholeNumber
        speedMetersPerSecond = message["speed"]?.finiteNumber
    }

    /// Reads a coordinate, which protobuf's JSON mapping may omit if it is zero. `nil` if it is out of range.
    private static func degrees(_ value: JSONValue?, upTo limit: Double) -> Double? {
        guard let value, value != .null else { return 0 }
        return value.finiteNumber.flatMap { abs($0) <= limit ? $0 : nil }
    }
}

extension JSONValue {
    /// The value of a number, possibly in quotes; `nil` for `"NaN"` and `"Infinity"` of protobuf's JSON mapping.
    fileprivate var finiteNumber: Double? {
        (doubleValue ?? stringValue.flatMap(Double.init)).flatMap { $0.isFinite ? $0 : nil }
    }
    /// The value of a whole number, which protobuf's JSON mapping may put in quotes.
    fileprivate var wholeNumber: Int? { integerValue.map(Int.init) ?? stringValue.flatMap { Int($0) } }
    fileprivate var time: Int64? { stringValue.flatMap(UTCTime.init(rfc3339:))?.millisecondsSince1970 }
    fileprivate var seconds: Double? {
        stringValue.flatMap { $0.hasSuffix("s") ? Double($0.dropLast()) : nil }.flatMap { $0.isFinite ? $0 : nil }
    }
}
