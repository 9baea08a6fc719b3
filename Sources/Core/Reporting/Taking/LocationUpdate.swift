package import GNSS
package import TimeAndChance

/// One position to be reported, as it is kept in the outbox and sent to Fleet Engine.
package struct LocationUpdate: Sendable, Hashable {
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
        speedMetersPerSecond = fix.speedMetersPerSecond
        horizontalAccuracyMeters = fix.horizontalAccuracyMeters
        if let altitude = fix.altitudeMeters, let separation = fix.geoidSeparationMeters {
            altitudeMeters = altitude + separation
        }
        headingDegrees = fix.headingDegrees.map { Int($0.rounded()) % 360 }
    }

    /// Where and when alone.
    package init(placeOf fix: Fix) {
        self.init(
            timeOfFix: fix.timeOfFix, latitude: Self.toTheCentimeter(fix.latitude),
            longitude: Self.toTheCentimeter(fix.longitude))
    }

    /// 1e-7 degrees are a centimetre, the best that a receiver gives; more digits are bytes on the disk and on the air.
    private static func toTheCentimeter(_ degrees: Double) -> Double { (degrees * 1e7).rounded() / 1e7 }
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
