package import FleetEngine
import GNSS

extension VehicleLocation {
    /// An update in Fleet Engine's words.
    package init(_ update: LocationUpdate, secondsSinceFirstSent: Int? = nil) {
        self.init(
            latitude: update.latitude, longitude: update.longitude,
            timeMillisecondsSince1970: update.timeOfFix.millisecondsSince1970)
        accuracyMeters = update.horizontalAccuracyMeters
        headingDegrees = update.headingDegrees
        speedMetersPerSecond = update.speedMetersPerSecond
        altitudeMeters = update.altitudeMeters
        self.secondsSinceFirstSent = secondsSinceFirstSent
    }
}
