package import GNSS
package import TimeAndChance

/// One position to be reported, as it is kept in the outbox and sent to Fleet Engine: rounded to a centimetre, the best
/// that a receiver gives. More digits are bytes on the disk and on the air.
package struct LocationUpdate: Sendable, Hashable {
    /// A unit of latitude and longitude is 1.1 cm on the ground, or less.
    package static let unitsPerDegree = 1e7
    /// Altitude and accuracy are rounded to centimetres, speed to centimetres per second.
    package static let unitsPerMeter = 100.0

    /// UTC of the fix; never the time of sending.
    package var timeOfFix: UTCTime
    /// Degrees, WGS 84.
    package var latitude: Double
    package var longitude: Double
    /// Metres above the WGS 84 ellipsoid.
    package var altitudeMeters: Double?
    package var speedMetersPerSecond: Double?
    /// Whole degrees from true north, 0...359; absent at standstill.
    package var headingDegrees: Int?
    /// Radius of the 68 % circle in metres.
    package var horizontalAccuracyMeters: Double?

    package init(timeOfFix: UTCTime, latitude: Double, longitude: Double) {
        self.timeOfFix = timeOfFix
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Where and when, as a point of a track.
    package var place: TrackPoint { TrackPoint(timeOfFix: timeOfFix, latitude: latitude, longitude: longitude) }
}

extension LocationUpdate {
    /// What Fleet Engine gets of `fix`.
    ///
    /// 359.6 degrees round to 0; altitude is above the ellipsoid, so it needs the receiver's geoid separation (Fleet
    /// Engine `VehicleLocation`).
    package init(_ fix: Fix) {
        self.init(placeOf: fix)
        speedMetersPerSecond = fix.speedMetersPerSecond.map { Self.rounded($0, Self.unitsPerMeter) }
        horizontalAccuracyMeters = fix.horizontalAccuracyMeters.map { Self.rounded($0, Self.unitsPerMeter) }
        if let altitude = fix.altitudeMeters, let separation = fix.geoidSeparationMeters {
            altitudeMeters = Self.rounded(altitude + separation, Self.unitsPerMeter)
        }
        headingDegrees = fix.headingDegrees.map { Int($0.rounded()) % 360 }
    }

    /// Where and when alone.
    package init(placeOf fix: Fix) {
        self.init(
            timeOfFix: fix.timeOfFix, latitude: Self.rounded(fix.latitude, Self.unitsPerDegree),
            longitude: Self.rounded(fix.longitude, Self.unitsPerDegree))
    }

    private static func rounded(_ value: Double, _ unitsPerOne: Double) -> Double {
        (value * unitsPerOne).rounded() / unitsPerOne
    }
}

extension Fix {
    /// The vehicle as `update` tells of it, to who follows it.
    package init(_ update: LocationUpdate) {
        self.init(timeOfFix: update.timeOfFix, latitude: update.latitude, longitude: update.longitude)
        speedMetersPerSecond = update.speedMetersPerSecond
        headingDegrees = update.headingDegrees.map(Double.init)
        horizontalAccuracyMeters = update.horizontalAccuracyMeters
    }
}
