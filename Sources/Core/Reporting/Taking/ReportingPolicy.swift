package import GNSS
import TimeAndChance

/// Decides which fixes become updates: by the policy while the vehicle moves, and at the heartbeat while it is parked.
///
/// All times are times of fix, so that a log leads to the same updates at any replay speed; `RequestSpacing` considers
/// the times of requests. Fleet Engine asks for at most one update in 5 s and at least one in 60 s (Fleet Engine guide,
/// "Update a vehicle location").
package struct ReportingPolicy: Sendable {
    /// The rule by which an update of a moving vehicle is due.
    package enum Kind: Sendable, Hashable {
        /// The given time since the previous update.
        case interval(Duration)
        /// A follower's extrapolated position is off by more than `liveToleranceMeters` (by `manoeuvreSlack` more while
        /// the vehicle turns, brakes or accelerates), or `maximumInterval` has passed since the previous update.
        case accuracy(liveToleranceMeters: Int, maximumInterval: Duration)

        /// The maximum time between two updates of a moving vehicle.
        package var maximumInterval: Duration {
            switch self {
            case .interval(let interval), .accuracy(_, let interval): interval
            }
        }
    }

    /// The minimum time between two updates, even when a parked vehicle departs.
    private static let minimumInterval = Duration.seconds(5)
    /// The maximum deviation of a receiver's times of fix from whole seconds.
    private static let jitter = Duration.milliseconds(100)
    /// The time after an update during which no other update is due.
    static let minimumSpacing = minimumInterval - jitter

    /// The factor that widens the tolerance during a manoeuvre, because an update sent halfway through is soon wrong
    /// again.
    private static let manoeuvreSlack = 1.18

    /// The distance in metres, per second of the interval, by which an ordinary manoeuvre takes a vehicle off its
    /// extrapolated position.
    private static let manoeuvreMeters = 7.0
    /// The distance in metres that a departing vehicle covers before its motion is known.
    private static let startMeters = 20.0
    /// The accuracy radius in metres that is assumed for a position without one.
    private static let defaultRadius = 10.0

    private let kind: Kind
    private let heartbeat: Duration
    private var manoeuvre = ManoeuvreDetector()
    /// The last update as a follower knows it, but with exact speed and accuracy.
    private var lastReported: Fix?
    private var lastSeen: UTCTime?
    /// The time between the last two fixes.
    private var spacing = Duration.zero
    /// Whether the vehicle was parked at the last fix.
    private var isParked = false
    /// Whether the vehicle has departed since the last update.
    private var hasDeparted = false

    package init(_ kind: Kind, heartbeat: Duration) {
        self.kind = kind
        self.heartbeat = heartbeat
    }

    /// Forgets all earlier fixes and updates.
    mutating func reset() { self = Self(kind, heartbeat: heartbeat) }

    /// Records `fix` and the vehicle's `motion`. Must be called before `isDue`.
    package mutating func observe(_ fix: Fix, _ motion: Motion?) {
        let wasParked = isParked
        isParked = motion?.isParked ?? false
        hasDeparted = !isParked && (wasParked || hasDeparted)
        spacing = lastSeen.map { $0.duration(to: fix.timeOfFix) } ?? .zero
        lastSeen = fix.timeOfFix
        manoeuvre.observe(fix)
    }

    /// Records that `fix` has become an update.
    package mutating func didReport(_ fix: Fix) {
        var reported = Fix(LocationUpdate(fix))
        // Not rounded, because a rounded speed would change decisions close to the tolerance.
        reported.speedMetersPerSecond = fix.speedMetersPerSecond
        reported.horizontalAccuracyMeters = fix.horizontalAccuracyMeters
        lastReported = reported
        hasDeparted = false
    }

    /// Whether `fix` proves the extrapolation of `reported` wrong: their distance is larger than the errors of both
    /// positions and the ordinary manoeuvres of an interval can explain.
    private func isWrong(_ reported: Fix, by fix: Fix) -> Bool {
        let off = reported.extrapolated(to: fix.timeOfFix).distance(to: fix)
        let errors = [reported, fix].reduce(0) { $0 + ($1.horizontalAccuracyMeters ?? Self.defaultRadius) }
        if isParked { return off > errors }
        guard case .interval(let interval) = kind else { return false }
        if !reported.statesMotion { return fix.statesMotion && off > errors + Self.startMeters }
        return off > errors + interval / .seconds(1) * Self.manoeuvreMeters
    }

    /// Whether `fix` may be reported even if it isn't due.
    func mayReport(_ fix: Fix) -> Bool {
        lastReported.map { $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.minimumSpacing } ?? true
    }

    /// Whether `fix`, the last one observed, is due.
    package func isDue(_ fix: Fix) -> Bool {
        guard let lastReported else { return true }
        let elapsed = lastReported.timeOfFix.duration(to: fix.timeOfFix)
        if elapsed < .zero { return true }  // the receiver's clock was set back, and Plausibility accepted it
        if elapsed < Self.minimumSpacing { return false }
        if isWrong(lastReported, by: fix) { return true }
        if isParked {
            return elapsed + max(.zero, min(spacing, .seconds(5))) > heartbeat
        }
        // The fix closest to the end of the interval is due, even if it is a little early.
        let tolerance = max(.zero, min(spacing, .seconds(1)) / 2)
        switch kind {
        case .interval(let interval):
            return elapsed + tolerance >= (hasDeparted ? min(interval, Self.minimumInterval) : interval)
        case .accuracy(let meters, let maximumInterval):
            let bound = Double(meters) * (manoeuvre.isUnderWay ? Self.manoeuvreSlack : 1)
            let error = lastReported.extrapolated(to: fix.timeOfFix).distance(to: fix)
            return elapsed + tolerance >= maximumInterval || error > bound
        }
    }
}

extension Fix {
    /// Whether the fix contains the vehicle's motion: standstill, or a speed with a heading.
    fileprivate var statesMotion: Bool {
        speedMetersPerSecond.map { $0 < Motion.movingSpeed || headingDegrees != nil } ?? false
    }
}

/// Decides whether a vehicle is turning, braking or accelerating at a fix. If so, the fix of two seconds ago,
/// extrapolated, leads to a different place.
private struct ManoeuvreDetector: Sendable {
    /// The minimum distance in metres between the fix and the extrapolated one: the effect of 0.5 m/s² in two seconds.
    private static let minimumDeviation = 1.0
    /// The minimum time between the fixes that are compared, whatever their rate.
    private static let spacing = Duration.milliseconds(900)
    private static let maximumAge = Duration.seconds(4)

    private(set) var isUnderWay = false
    private var earlier: Fix?
    private var earliest: Fix?

    mutating func observe(_ fix: Fix) {
        // The receiver's clock was set back, so the earlier fixes can't be compared with new ones.
        if let earlier, fix.timeOfFix < earlier.timeOfFix {
            self.earlier = nil
            earliest = nil
        }
        let age = earliest.map { $0.timeOfFix.duration(to: fix.timeOfFix) } ?? .zero
        let deviation = earliest.map { $0.extrapolated(to: fix.timeOfFix).distance(to: fix) } ?? 0
        isUnderWay = age > .zero && age <= Self.maximumAge && deviation > Self.minimumDeviation
        if earlier.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.spacing }) ?? true {
            earliest = earlier
            earlier = fix
        }
    }
}
