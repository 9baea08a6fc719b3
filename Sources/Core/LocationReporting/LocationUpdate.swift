package import GNSS

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
        (self.timeOfFix, self.latitude, self.longitude) = (timeOfFix, latitude, longitude)
    }
}
