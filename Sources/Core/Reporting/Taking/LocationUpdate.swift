package import GNSS
package import TimeAndRandomness

/// A position to report, as the outbox stores it and as it is delivered.
///
/// Its values are rounded to about a centimetre, the best accuracy of a receiver; more digits would only cost bytes. A
/// value that is unknown is `nil`.
package struct LocationUpdate: Sendable, Hashable {
    /// The factor for rounding latitude and longitude to 10⁻⁷ degrees, which is at most 1.1 cm on the ground.
    package static let unitsPerDegree = 1e7
    /// The factor for rounding altitude and accuracy to centimetres, and speed to centimetres per second.
    package static let unitsPerMeter = 100.0

    /// The UTC time of the fix, never the time of sending.
    package var timeOfFix: UTCTime
    /// The coordinates in degrees, WGS 84.
    package var latitude: Double
    package var longitude: Double
    /// The altitude above the WGS 84 ellipsoid.
    package var altitudeMeters: Double?
    package var speedMetersPerSecond: Double?
    /// The heading in whole degrees from true north, 0...359; `nil` at standstill.
    package var headingDegrees: Int?
    /// The radius in metres of the circle that contains the true position with a probability of 68 %.
    package var horizontalAccuracyMeters: Double?

    package init(timeOfFix: UTCTime, latitude: Double, longitude: Double) {
        self.timeOfFix = timeOfFix
        self.latitude = latitude
        self.longitude = longitude
    }

    /// The time and position, as a point of a track.
    package var place: TrackPoint { TrackPoint(timeOfFix: timeOfFix, latitude: latitude, longitude: longitude) }
}

extension LocationUpdate {
    /// Creates the update that reports `fix`.
    ///
    /// A heading of 359.6 degrees rounds to 0. Fleet Engine's `VehicleLocation` defines the altitude as above the
    /// ellipsoid. The update thus contains an altitude only if the receiver reports the geoid separation.
    package init(_ fix: Fix) {
        self.init(placeOf: fix)
        speedMetersPerSecond = fix.speedMetersPerSecond.map { Self.rounded($0, unitsPerOne: Self.unitsPerMeter) }
        horizontalAccuracyMeters = fix.horizontalAccuracyMeters.map {
            Self.rounded($0, unitsPerOne: Self.unitsPerMeter)
        }
        if let altitude = fix.altitudeMeters, let separation = fix.geoidSeparationMeters {
            altitudeMeters = Self.rounded(altitude + separation, unitsPerOne: Self.unitsPerMeter)
        }
        headingDegrees = fix.headingDegrees.map { Int($0.rounded()) % 360 }
    }

    /// Creates an update that contains only the fix's time and position.
    package init(placeOf fix: Fix) {
        self.init(
            timeOfFix: fix.timeOfFix, latitude: Self.rounded(fix.latitude, unitsPerOne: Self.unitsPerDegree),
            longitude: Self.rounded(fix.longitude, unitsPerOne: Self.unitsPerDegree))
    }

    private static func rounded(_ value: Double, unitsPerOne: Double) -> Double {
        (value * unitsPerOne).rounded() / unitsPerOne
    }
}

extension Fix {
    /// Creates a fix from the values of `update` that Fleet Engine shows to a follower of the vehicle.
    package init(_ update: LocationUpdate) {
        self.init(timeOfFix: update.timeOfFix, latitude: update.latitude, longitude: update.longitude)
        speedMetersPerSecond = update.speedMetersPerSecond
        headingDegrees = update.headingDegrees.map(Double.init)
        horizontalAccuracyMeters = update.horizontalAccuracyMeters
    }
}
