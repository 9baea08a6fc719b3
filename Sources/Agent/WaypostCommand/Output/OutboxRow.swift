import GNSS
import LocationReporting
import ReportedText
import SQLiteOutbox

/// One stored update as the tools print it.
struct OutboxRow: Encodable {
    let sequence: Int64
    let time: String
    let latitude: Double
    let longitude: Double
    /// Not `altitudeMeters`, which `waypost fixes` gives above mean sea level.
    let altitudeAboveEllipsoidMeters: Double?
    let speedMetersPerSecond: Double?
    let headingDegrees: Int?
    let horizontalAccuracyMeters: Double?
    /// The server's words; only for a quarantined update.
    var reason: String?

    init(_ stored: StoredUpdate) {
        sequence = stored.sequence
        time = stored.update.timeOfFix.description
        latitude = stored.update.latitude
        longitude = stored.update.longitude
        altitudeAboveEllipsoidMeters = stored.update.altitudeMeters
        speedMetersPerSecond = stored.update.speedMetersPerSecond
        headingDegrees = stored.update.headingDegrees
        horizontalAccuracyMeters = stored.update.horizontalAccuracyMeters
    }

    init(_ quarantined: QuarantinedUpdate) {
        self.init(quarantined.stored)
        reason = quarantined.reason.description
    }
}
