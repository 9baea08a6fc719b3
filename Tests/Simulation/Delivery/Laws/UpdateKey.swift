import Reporting
import TimeAndChance

/// What tells one update from another on its way: time and place.
struct UpdateKey: Hashable {
    let time: UTCTime
    /// Units of 1e-7 degrees.
    let latitude: Int64
    let longitude: Int64

    init(time: UTCTime, latitude: Double, longitude: Double) {
        self.time = time
        self.latitude = Int64((latitude * 1e7).rounded())
        self.longitude = Int64((longitude * 1e7).rounded())
    }

    init(_ update: LocationUpdate) {
        self.init(time: update.timeOfFix, latitude: update.latitude, longitude: update.longitude)
    }
}
