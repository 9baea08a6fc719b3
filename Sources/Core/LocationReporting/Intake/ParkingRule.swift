import GNSS
import TimeAndChance

/// When a vehicle is parked: it stands in one place for longer than at most traffic lights (`Motion`).
struct ParkingRule: Sendable {
    /// Where and since when the vehicle stands; `nil` while it moves.
    private var standing: Fix?

    func isParked(at time: UTCTime) -> Bool {
        standing.map { $0.timeOfFix.duration(to: time) >= Motion.parkingTime } ?? false
    }

    mutating func observe(_ fix: Fix) {
        if let place = standing {
            // Whatever its speed field says, outside this circle it has moved.
            let reach = max(Motion.parkingRadius, 2 * (fix.horizontalAccuracyMeters ?? 0))
            let hasLeft = place.distance(to: fix) > reach || fix.timeOfFix < place.timeOfFix
            if hasLeft || (fix.speedMetersPerSecond ?? 0) >= Motion.movingSpeed {
                // Without a speed field, a vehicle that stays near its last place may be standing again.
                standing = fix.speedMetersPerSecond == nil ? fix : nil
            }
        } else if (fix.speedMetersPerSecond ?? 0) < Motion.standingSpeed {
            standing = fix
        }
    }
}
