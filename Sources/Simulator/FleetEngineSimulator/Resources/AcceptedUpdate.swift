package import FleetEngine
import StrictJSON

/// What one committed update brought, for the record.
package struct AcceptedUpdate: Sendable, Hashable {
    /// One position of an update.
    package struct Position: Sendable, Hashable {
        /// `false` when it came among the past locations.
        package let isLast: Bool
        /// The sensor's time; `nil` when the client gave none.
        package let time: WireTime?
        package let latitude: Double
        package let longitude: Double
        package let speedMetersPerSecond: Double?
        package let headingDegrees: Int?
        package let accuracyMeters: Double?
        /// The client said that it repeats an earlier fix.
        package let timeSinceUpdateSeconds: Int?

        /// From a checked location message; `nil` when it has no coordinates.
        init?(_ location: JSONValue, isLast: Bool) {
            let sources = [
                ("supplementalLocation", "supplementalLocationTime", "supplementalLocationAccuracy"),
                ("location", "updateTime", "latlngAccuracy"), ("rawLocation", "rawLocationTime", "rawLocationAccuracy"),
            ]
            guard let (place, time, accuracy) = sources.first(where: { location[$0.0] != nil }) else { return nil }
            self.isLast = isLast
            self.time = location[time]?.stringValue.flatMap(WireTime.init)
            latitude = location[place]?["latitude"]?.doubleValue ?? 0
            longitude = location[place]?["longitude"]?.doubleValue ?? 0
            speedMetersPerSecond = location["speed"]?.doubleValue
            headingDegrees = (location["heading"]?.integerValue).map(Int.init)
            accuracyMeters = location[accuracy]?.doubleValue
            timeSinceUpdateSeconds = (location["timeSinceUpdate"]?.integerValue).map(Int.init)
        }
    }

    package let vehicle: ResourceName
    /// Past ones in the order they came, then the last one.
    package let positions: [Position]
    package let vehicleState: String?
}
