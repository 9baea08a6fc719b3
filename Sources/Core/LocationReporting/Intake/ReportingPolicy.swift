package import GNSS
import TimeAndChance

/// Decides which fixes become updates: a moving vehicle at its interval, a parked one at the heartbeat.
///
/// All times are times of fix, so that a log replayed at any speed gives the same updates; what a request's own time
/// forbids, `RequestSpacing` says. Fleet Engine asks for at most one update in 5 s and at least one in 60 s (Fleet
/// Engine guide, "Update a vehicle location").
package struct ReportingPolicy: Sendable {
    /// The shortest time between two updates, also when a parked vehicle moves off.
    private static let shortestInterval = Duration.seconds(5)
    /// What a receiver's times of fix are off their second.
    private static let jitter = Duration.milliseconds(100)
    /// The shortest that is not too short.
    static let leastSpacing = shortestInterval - jitter

    private var interval: Duration
    private var heartbeat: Duration
    private var lastReported: Fix?
    private var lastSeen: UTCTime?
    /// From the fix before to the last.
    private var spacing = Duration.zero
    private var parking = ParkingRule()
    /// Before the last fix.
    private var wasParked = false

    package init(interval: Duration, heartbeat: Duration) {
        (self.interval, self.heartbeat) = (interval, heartbeat)
    }

    /// Other times from now on; what was reported before counts.
    package mutating func change(interval: Duration, heartbeat: Duration) {
        (self.interval, self.heartbeat) = (interval, heartbeat)
    }

    /// Knows nothing of before from now on.
    mutating func beginAnew() { self = Self(interval: interval, heartbeat: heartbeat) }

    /// Takes note of `fix`, before anything is asked about it.
    package mutating func observe(_ fix: Fix) {
        wasParked = parking.isParked(at: fix.timeOfFix)
        parking.observe(fix)
        spacing = lastSeen.map { $0.duration(to: fix.timeOfFix) } ?? .zero
        lastSeen = fix.timeOfFix
    }

    /// Takes note that `fix` has become an update.
    package mutating func didReport(_ fix: Fix) { lastReported = fix }

    /// Whether `fix` may be reported even if it is not due.
    func mayReport(_ fix: Fix) -> Bool {
        lastReported.map { $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.leastSpacing } ?? true
    }

    /// Whether `fix`, the last that was observed, is due.
    package func isDue(_ fix: Fix) -> Bool {
        guard let lastReported else { return true }
        let elapsed = lastReported.timeOfFix.duration(to: fix.timeOfFix)
        // A fix is due when waiting for the next one would miss the interval by more than taking this one does.
        let tolerance = max(.zero, min(spacing, .seconds(1)) / 2)
        if elapsed < .zero { return true }  // the receiver's clock was set back, and Plausibility accepted it
        if elapsed < Self.leastSpacing { return false }
        if parking.isParked(at: fix.timeOfFix) {
            return elapsed + max(.zero, min(spacing, .seconds(5))) > heartbeat
        }
        return elapsed + tolerance >= (wasParked ? min(interval, Self.shortestInterval) : interval)
    }
}
