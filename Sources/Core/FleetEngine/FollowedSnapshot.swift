import ReportedText
package import StrictJSON
import TimeAndChance

/// What a consumer sees of a trip or vehicle at one moment: the parts of Fleet Engine's `Trip`, `Vehicle` and
/// `DeliveryVehicle` that change on the way. What an answer holds besides is passed over.
public struct FollowedSnapshot: Sendable, Hashable {
    /// The last location that Fleet Engine has of the vehicle.
    public struct Position: Sendable, Hashable {
        /// Degrees, WGS 84.
        public var latitude: Double
        /// Degrees, WGS 84.
        public var longitude: Double
        /// When it was measured, in milliseconds since 1970 UTC; `nil` when the sender did not say.
        public var timeOfFixMillisecondsSince1970: Int64?
        /// Radius in metres.
        public var accuracyMeters: Double?
        /// Whole degrees from north.
        public var headingDegrees: Int?
        /// Metres a second.
        public var speedMetersPerSecond: Double?

        /// A place without anything else.
        package init(latitude: Double, longitude: Double) { (self.latitude, self.longitude) = (latitude, longitude) }
    }

    /// As Fleet Engine words it: the trip's status (`ENROUTE_TO_PICKUP`), or the vehicle's state (`ONLINE`).
    public var status: String?
    /// The vehicle that drives the trip; `nil` for a vehicle itself, and before one is assigned.
    public var vehicleID: String?
    /// Where the vehicle is; `nil` before its first report.
    public var position: Position?
    /// To the next waypoint.
    public var remainingDistanceMeters: Int?
    /// When the next waypoint will be reached, in milliseconds since 1970 UTC.
    public var arrivalMillisecondsSince1970: Int64?
    /// How long the next waypoint is away, in seconds; scheduled tasks have this instead of the arrival.
    public var remainingSeconds: Double?
    /// Of the route that the answer carried, to be sent with the next question.
    package var routeVersion: String?

    /// Nothing is known yet.
    package init() {}

    /// Whether the trip has come to its end.
    public var isOver: Bool { status == "COMPLETE" || status == "CANCELED" }

    /// Whether something has changed that a person follows; an arrival that is merely recomputed is not a change.
    package func differs(from earlier: FollowedSnapshot) -> Bool {
        (status, vehicleID, position) != (earlier.status, earlier.vehicleID, earlier.position)
            || remainingDistanceMeters != earlier.remainingDistanceMeters
    }
}

extension FollowedSnapshot {
    /// Reads the resource of an answer; `nil` when it is not named `name`.
    ///
    /// `secrets`: what the question held; no word of the answer repeats it.
    package init?(_ resource: JSONValue, named name: String, without secrets: [String] = []) {
        guard resource["name"]?.stringValue == name else { return nil }
        self.init()
        status = (resource["tripStatus"] ?? resource["vehicleState"])?.stringValue.map {
            ReportedText($0, without: secrets).description
        }
        vehicleID = resource["vehicleId"]?.stringValue.map { Self.shown(vehicleID: $0, without: secrets) }
        position = resource["lastLocation"].flatMap(Position.init)
        remainingDistanceMeters = resource["remainingDistanceMeters"]?.wholeNumber
        arrivalMillisecondsSince1970 = resource["etaToFirstWaypoint"]?.time
        remainingSeconds = (resource["remainingTimeToFirstWaypoint"] ?? resource["remainingDuration"])?.seconds
        routeVersion = resource["currentRouteSegmentVersion"]?.stringValue
    }
}

extension FollowedSnapshot {
    /// Behind its collection's name, where an id without sense is no secret.
    private static func shown(vehicleID: String, without secrets: [String]) -> String {
        let collection = "vehicles/"
        return String(ReportedText(collection + vehicleID, without: secrets).description.dropFirst(collection.count))
    }
}

extension FollowedSnapshot.Position {
    /// Of a location message; `nil` when it has no coordinates.
    ///
    /// `location` is the one that Fleet Engine shows; the others stand in its place where it is missing.
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

    /// A coordinate; one of zero may be left out (protobuf's JSON mapping). `nil` when it is no place.
    private static func degrees(_ value: JSONValue?, upTo limit: Double) -> Double? {
        guard let value, value != .null else { return 0 }
        return value.finiteNumber.flatMap { abs($0) <= limit ? $0 : nil }
    }
}

extension JSONValue {
    /// A number, in quotes or without; protobuf's JSON mapping has `"NaN"` and `"Infinity"` too.
    fileprivate var finiteNumber: Double? {
        (doubleValue ?? stringValue.flatMap(Double.init)).flatMap { $0.isFinite ? $0 : nil }
    }
    /// A whole number; protobuf's JSON mapping tolerates one in quotes.
    fileprivate var wholeNumber: Int? { integerValue.map(Int.init) ?? stringValue.flatMap { Int($0) } }
    fileprivate var time: Int64? { stringValue.flatMap(UTCTime.init(rfc3339:))?.millisecondsSince1970 }
    fileprivate var seconds: Double? {
        stringValue.flatMap { $0.hasSuffix("s") ? Double($0.dropLast()) : nil }.flatMap { $0.isFinite ? $0 : nil }
    }
}
