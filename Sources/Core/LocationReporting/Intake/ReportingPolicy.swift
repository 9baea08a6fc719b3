package import GNSS
import TimeAndChance

/// Decides which fixes become updates: a moving vehicle at its interval, a parked one at the heartbeat.
///
/// All times are times of fix, so that a log replayed at any speed gives the same updates. Fleet Engine asks for at
/// most one update in 5 s and at least one in 60 s (Fleet Engine guide, "Update a vehicle location").
package struct ReportingPolicy: Sendable {
    /// The shortest time between two updates, also when a parked vehicle moves off.
    static let shortestInterval = Duration.seconds(5)
    /// What a receiver's times of fix are off their second.
    private static let jitter = Duration.milliseconds(100)

    private var interval: Duration
    private var heartbeat: Duration
    private var lastReported: Fix?
    private var lastSeen: UTCTime?
    private var parking = ParkingRule()

    package init(interval: Duration, heartbeat: Duration) {
        (self.interval, self.heartbeat) = (interval, heartbeat)
    }

    /// Other times from now on; what was reported before counts.
    package mutating func change(interval: Duration, heartbeat: Duration) {
        (self.interval, self.heartbeat) = (interval, heartbeat)
    }

    /// Whether `fix` is due; the fix counts as reported when it is.
    package mutating func isDue(_ fix: Fix) -> Bool {
        let wasParked = parking.isParked(at: fix.timeOfFix)
        parking.observe(fix)
        let spacing = lastSeen.map { $0.duration(to: fix.timeOfFix) } ?? .zero
        lastSeen = fix.timeOfFix
        guard let lastReported else {
            self.lastReported = fix
            return true
        }
        let elapsed = lastReported.timeOfFix.duration(to: fix.timeOfFix)
        // A fix is due when waiting for the next one would miss the interval by more than taking this one does.
        let tolerance = max(.zero, min(spacing, .seconds(1)) / 2)
        let due: Bool
        if elapsed < .zero {
            due = true  // the receiver's clock was set back, and Plausibility accepted it
        } else if elapsed < Self.shortestInterval - Self.jitter {
            due = false
        } else if parking.isParked(at: fix.timeOfFix) {
            due = elapsed + max(.zero, min(spacing, .seconds(5))) > heartbeat
        } else {
            due = elapsed + tolerance >= (wasParked ? min(interval, Self.shortestInterval) : interval)
        }
        if due { self.lastReported = fix }
        return due
    }
}
