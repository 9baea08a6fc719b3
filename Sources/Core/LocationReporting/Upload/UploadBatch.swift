package import FleetEngine
import GNSS
import TimeAndChance

/// What one upload carries.
package struct UploadBatch: Sendable, Hashable {
    /// The newest update there is by time of fix; goes out as `lastLocation`.
    package let last: StoredUpdate
    /// Whether `last` has still to be delivered; otherwise it is repeated, so that no older position takes its place.
    package let lastIsPending: Bool
    /// Older pending updates, in order of time of fix; go out as `pastLocations`.
    package let past: [StoredUpdate]

    package init(last: StoredUpdate, lastIsPending: Bool, past: [StoredUpdate]) {
        (self.last, self.lastIsPending, self.past) = (last, lastIsPending, past)
    }

    /// What a success delivers.
    package var pending: [StoredUpdate] { lastIsPending ? past + [last] : past }
}

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
