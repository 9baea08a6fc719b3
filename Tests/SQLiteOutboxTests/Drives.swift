import GNSS
import Glibc
import LyingDisk
import Reporting
import TimeAndRandomness

/// Drives as a gateway reports them, and the error of thinned drives.
enum Drives {
    /// Returns a drive with an update every ten seconds: legs with turns at 5 to 14 m/s, stops of one or two minutes,
    /// and now and then the engine off for a quarter of an hour. `noise` is the receiver's noise in metres.
    static func town(updates: Int, seed: UInt64 = 1, noise: Double = 2) -> [LocationUpdate] {
        var chance = SplitMix64(seed: seed)
        var east = 0.0
        var north = 0.0
        var course = 0.0
        var speed = 10.0
        var time = UTCTime(year: 2026, month: 1, day: 5)
        var standing = 0
        return (0..<updates).map { _ in
            time = time.advanced(by: .seconds(10))
            if standing > 0 {
                standing -= 1
                if standing == 0, Int.random(in: 0..<20, using: &chance) == 0 {
                    time = time.advanced(by: .seconds(900))
                }
            } else {
                switch Int.random(in: 0..<40, using: &chance) {
                case 0: standing = Int.random(in: 2...12, using: &chance)
                case 1...6: course += Double.random(in: -1.6...1.6, using: &chance)
                case 7...9: speed = Double.random(in: 5...14, using: &chance)
                default: break
                }
                east += sin(course) * speed * 10
                north += cos(course) * speed * 10
            }
            let wander = standing > 0 ? 0 : noise
            var fix = Fix(
                timeOfFix: time,
                latitude: 48.1 + (north + .random(in: -wander...wander, using: &chance)) / 111_320,
                longitude: 11.5 + (east + .random(in: -wander...wander, using: &chance)) / (111_320 * 0.668))
            fix.speedMetersPerSecond = standing > 0 ? 0 : speed
            fix.horizontalAccuracyMeters = 2.5
            return LocationUpdate(fix)
        }
    }

    /// Returns the maximum distance of the updates in `original`, each at its own time, from the track through
    /// `thinned`, and the maximum time between neighbours in `thinned` that aren't neighbours in `original`. Both
    /// tracks must have the same ends.
    static func error(
        of thinned: [LocationUpdate], against original: [LocationUpdate]
    ) -> (meters: Double, span: Duration) {
        var worst = (meters: 0.0, span: Duration.zero)
        var before = 0
        for update in original {
            while before + 2 < thinned.count, thinned[before + 1].timeOfFix < update.timeOfFix { before += 1 }
            let one = thinned[before]
            let next = thinned[before + 1]
            if one == update || next == update { continue }
            let span = one.timeOfFix.duration(to: next.timeOfFix)
            let share = one.timeOfFix.duration(to: update.timeOfFix) / span
            let latitude = one.latitude + (next.latitude - one.latitude) * share
            let longitude = one.longitude + remainder(next.longitude - one.longitude, 360) * share
            let place = Fix(timeOfFix: update.timeOfFix, latitude: latitude, longitude: longitude)
            let truth = Fix(timeOfFix: update.timeOfFix, latitude: update.latitude, longitude: update.longitude)
            worst = (max(worst.meters, place.distance(to: truth)), max(worst.span, span))
        }
        return worst
    }
}
