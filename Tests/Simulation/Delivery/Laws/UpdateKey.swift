import Reporting
import TimeAndRandomness

/// The identity of an update in a request: its time and place.
struct UpdateKey: Hashable {
    let time: UTCTime
    /// The latitude and the longitude in units of 10⁻⁷ degrees.
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
