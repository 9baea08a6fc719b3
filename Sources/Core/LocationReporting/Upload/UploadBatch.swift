package import FleetEngine
import TimeAndChance

/// What one upload carries.
package struct UploadBatch: Sendable, Hashable {
    /// The live position.
    package struct Last: Sendable, Hashable {
        package let update: LocationUpdate
        /// Its place in the outbox; `nil` for a position that is in memory only.
        package let sequence: Int64?

        package var stored: StoredUpdate? { sequence.map { StoredUpdate(sequence: $0, update: update) } }
    }

    /// The newest update there is by time of fix; goes out as `lastLocation`.
    package let last: Last
    /// Whether `last` has still to be delivered; otherwise it is repeated, so that no older position takes its place.
    package let lastIsPending: Bool
    /// Older pending updates, in order of time of fix; go out as `pastLocations`.
    package let past: [StoredUpdate]

    /// A batch led by an update of the outbox.
    package init(last: StoredUpdate, lastIsPending: Bool, past: [StoredUpdate]) {
        self.last = Last(update: last.update, sequence: last.sequence)
        (self.lastIsPending, self.past) = (lastIsPending, past)
    }

    /// A batch led by a position that is in memory only: nothing is acknowledged for that.
    package init(unstored: LocationUpdate, past: [StoredUpdate]) {
        last = Last(update: unstored, sequence: nil)
        (lastIsPending, self.past) = (false, past)
    }

    /// What a success delivers.
    package var pending: [StoredUpdate] { lastIsPending ? past + [last.stored].compactMap(\.self) : past }
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
