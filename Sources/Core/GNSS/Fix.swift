/// One position solution of a GNSS receiver: everything that one epoch's sentences said, put together.
///
/// A field is absent when the receiver did not say it; an absent heading is not a heading of 0.
package struct Fix: Sendable, Hashable {
    /// UTC of the solution, from the receiver.
    package var timeOfFix: UTCTime
    /// Degrees, WGS 84, -90...90, north positive.
    package var latitude: Double
    /// Degrees, WGS 84, -180...180, east positive.
    package var longitude: Double
    /// Metres above mean sea level.
    package var altitudeMeters: Double?
    /// Height of mean sea level above the WGS 84 ellipsoid, in metres.
    package var geoidSeparationMeters: Double?
    package var speedMetersPerSecond: Double?
    /// Course over ground in degrees from true north, 0..<360.
    package var headingDegrees: Double?
    /// Where the vehicle's front points (HDT, THS), in degrees from true north, 0..<360: from a compass or a second
    /// antenna, true at standstill too; says nothing about its way.
    package var bodyHeadingDegrees: Double?
    /// Radius of the 68 % circle in metres.
    package var horizontalAccuracyMeters: Double?
    package var hdop: Double?
    package var satellitesUsed: Int?
    package var quality: FixQuality
    package var mode: FixMode?

    package init(timeOfFix: UTCTime, latitude: Double, longitude: Double, quality: FixQuality = .gps) {
        self.timeOfFix = timeOfFix
        self.latitude = latitude
        self.longitude = longitude
        self.quality = quality
    }
}
