/// A time during which a vehicle stood in one place.
package struct TrackStop: Sendable, Hashable {
    /// First and last fix that stood there.
    package internal(set) var from: UTCTime
    package internal(set) var to: UTCTime
    /// Mean of the positions in degrees, WGS 84.
    package internal(set) var latitude: Double
    package internal(set) var longitude: Double
    /// How much of it passed without a fix: a receiver that is off while the vehicle is parked.
    package internal(set) var unseen: Duration
    private var fixes = 1

    init(at fix: Fix) {
        (from, to, unseen) = (fix.timeOfFix, fix.timeOfFix, .zero)
        (latitude, longitude) = (fix.latitude, fix.longitude)
    }

    package var duration: Duration { from.duration(to: to) }
    /// The place as a fix.
    var place: Fix { Fix(timeOfFix: from, latitude: latitude, longitude: longitude) }

    /// Takes one more position, or the mean of some that come later, into the mean.
    private mutating func include(latitude: Double, longitude: Double, fixes count: Int = 1) {
        let share = Double(count) / Double(fixes + count)
        var east = longitude - self.longitude
        if east > 180 { east -= 360 } else if east < -180 { east += 360 }
        self.latitude += (latitude - self.latitude) * share
        self.longitude += east * share
        if self.longitude > 180 { self.longitude -= 360 } else if self.longitude < -180 { self.longitude += 360 }
        fixes += count
    }

    /// Takes in a fix that stands there too, `gap` after the one before.
    mutating func extend(to fix: Fix, gap: Duration) {
        to = fix.timeOfFix
        unseen += gap
        include(latitude: fix.latitude, longitude: fix.longitude)
    }

    /// Takes in a later stop in the same place.
    mutating func extend(by later: TrackStop) {
        to = later.to
        unseen += later.unseen
        include(latitude: later.latitude, longitude: later.longitude, fixes: later.fixes)
    }
}
