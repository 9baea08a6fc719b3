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

extension VehicleLocation: Encodable {
    private enum CodingKeys: String, CodingKey {
        case supplementalLocation, supplementalLocationTime, supplementalLocationSensor, supplementalLocationAccuracy
        case heading, speed, altitude, timeSinceUpdate
    }

    private struct LatLng: Encodable {
        let latitude, longitude: Double
    }

    package func encode(to encoder: any Encoder) throws {
        var message = encoder.container(keyedBy: CodingKeys.self)
        let position = LatLng(latitude: Self.rounded(latitude, 1e7), longitude: Self.rounded(longitude, 1e7))
        try message.encode(position, forKey: .supplementalLocation)
        try message.encode(
            WireTime(millisecondsSince1970: timeMillisecondsSince1970).description, forKey: .supplementalLocationTime)
        try message.encode("CUSTOMER_SUPPLIED_LOCATION", forKey: .supplementalLocationSensor)
        try message.encodeIfPresent(accuracyMeters.map { Self.rounded($0, 1e2) }, forKey: .supplementalLocationAccuracy)
        try message.encodeIfPresent(headingDegrees, forKey: .heading)
        try message.encodeIfPresent(speedMetersPerSecond.map { Self.rounded($0, 1e2) }, forKey: .speed)
        try message.encodeIfPresent(altitudeMeters.map { Self.rounded($0, 1e2) }, forKey: .altitude)
        try message.encodeIfPresent(secondsSinceFirstSent, forKey: .timeSinceUpdate)
    }

    /// A centimetre, the best a receiver gives, is 1e-7 degrees; more digits are bytes without meaning.
    private static func rounded(_ value: Double, _ scale: Double) -> Double { (value * scale).rounded() / scale }
}
