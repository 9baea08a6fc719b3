package import GNSS
import TimeAndRandomness

/// The rule for which fixes become updates. While the vehicle moves, the rule of the policy applies. While the vehicle
/// is parked, there is an update at each heartbeat.
///
/// All times are those of fixes, so that a log leads to the same updates at any replay speed. The times of requests are
/// the concern of `RequestSpacing`. Fleet Engine asks for at most one update in 5 s and at least one in 60 s (Fleet
/// Engine guide, "Update a vehicle location").
package struct ReportingPolicy: Sendable {
    /// The rule that decides when the next update of a moving vehicle is due.
    package enum Kind: Sendable, Hashable {
        /// An update is due when the given time has passed since the previous one.
        case interval(Duration)
        /// An update is due when a follower's extrapolated position is off by more than `liveToleranceMeters`, or when
        /// `maximumInterval` has passed since the previous update. While the vehicle turns, brakes or accelerates, the
        /// tolerance is `manoeuvreToleranceFactor` times as large.
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
    /// The maximum deviation of fix times from whole seconds.
    private static let maximumTimeJitter = Duration.milliseconds(100)
    /// The time after an update during which no other update is due.
    static let minimumSpacing = minimumInterval - maximumTimeJitter

    /// The factor that widens the tolerance during a manoeuvre. An update sent in the middle of a manoeuvre would soon
    /// be wrong again.
    private static let manoeuvreToleranceFactor = 1.18

    /// The distance in metres by which an ordinary manoeuvre takes a vehicle off its extrapolated position, for each
    /// second of the reporting interval.
    private static let manoeuvreMetersPerSecond = 7.0
    /// The distance in metres that a departing vehicle covers before its speed and heading are known.
    private static let departureMeters = 20.0
    /// The maximum time for which the first update after a departure waits for the vehicle's speed and heading. Without
    /// them, it would soon be wrong.
    private static let departureDelay = Duration.seconds(3)
    /// The accuracy radius in metres that is assumed for a position without a reported radius.
    private static let defaultRadius = 10.0

    private let kind: Kind
    private let heartbeat: Duration
    private var manoeuvreDetector = ManoeuvreDetector()
    /// The last update, with the rounded position that a follower knows but with the exact speed and accuracy; `nil`
    /// before the first update.
    private var lastReported: Fix?
    private var lastFixTime: UTCTime?
    /// The time between the last two fixes.
    private var fixSpacing = Duration.zero
    /// Whether the vehicle was parked at the last fix.
    private var isParked = false
    /// The time of the vehicle's departure; `nil` if it hasn't departed since the last update.
    private var departedAt: UTCTime?

    package init(_ kind: Kind, heartbeat: Duration) {
        self.kind = kind
        self.heartbeat = heartbeat
    }

    /// Forgets all earlier fixes and updates.
    mutating func reset() { self = Self(kind, heartbeat: heartbeat) }

    /// Records `fix` and the vehicle's `motion`. The caller must call this before `isDue`.
    package mutating func observe(_ fix: Fix, motion: Motion?) {
        let wasParked = isParked
        isParked = motion?.isParked ?? false
        if isParked { departedAt = nil } else if wasParked { departedAt = fix.timeOfFix }
        fixSpacing = lastFixTime.map { $0.duration(to: fix.timeOfFix) } ?? .zero
        lastFixTime = fix.timeOfFix
        manoeuvreDetector.observe(fix)
    }

    /// Records that `fix` has become an update.
    package mutating func didReport(_ fix: Fix) {
        var reported = Fix(LocationUpdate(fix))
        // The speed isn't rounded, because a rounded speed would change decisions close to the tolerance.
        reported.speedMetersPerSecond = fix.speedMetersPerSecond
        reported.horizontalAccuracyMeters = fix.horizontalAccuracyMeters
        lastReported = reported
        departedAt = nil
    }

    /// Whether `fix` is farther from the extrapolated position of `reported` than their errors and ordinary manoeuvres
    /// can explain, so that the extrapolation is wrong.
    private func isExtrapolation(of reported: Fix, disprovedBy fix: Fix) -> Bool {
        let off = reported.extrapolated(to: fix.timeOfFix).distance(to: fix)
        let errors = [reported, fix].reduce(0) { $0 + ($1.horizontalAccuracyMeters ?? Self.defaultRadius) }
        if isParked { return off > errors }
        guard case .interval(let interval) = kind else { return false }
        if !reported.statesMotion { return fix.statesMotion && off > errors + Self.departureMeters }
        return off > errors + interval / .seconds(1) * Self.manoeuvreMetersPerSecond
    }

    /// Whether the minimum time since the last update has passed, so that `fix` may be reported even if it isn't due.
    func mayReport(_ fix: Fix) -> Bool {
        lastReported.map { $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.minimumSpacing } ?? true
    }

    /// Whether `fix`, which must be the last one observed, is due as an update.
    package func isDue(_ fix: Fix) -> Bool {
        guard let lastReported else { return true }
        let elapsed = lastReported.timeOfFix.duration(to: fix.timeOfFix)
        if elapsed < .zero { return true }  // the receiver's clock was set back, and Plausibility accepted it
        if elapsed < Self.minimumSpacing { return false }
        if isExtrapolation(of: lastReported, disprovedBy: fix) { return true }
        let isHeartbeatDue = elapsed + max(.zero, min(fixSpacing, .seconds(5))) > heartbeat
        if isParked { return isHeartbeatDue }
        if let departedAt, !fix.statesMotion, departedAt.duration(to: fix.timeOfFix) < Self.departureDelay {
            return isHeartbeatDue
        }
        // The fix closest to the end of the interval is due, even if it is a little early.
        let tolerance = max(.zero, min(fixSpacing, .seconds(1)) / 2)
        switch kind {
        case .interval(let interval):
            return elapsed + tolerance >= (departedAt != nil ? min(interval, Self.minimumInterval) : interval)
        case .accuracy(let meters, let maximumInterval):
            let bound = Double(meters) * (manoeuvreDetector.isUnderWay ? Self.manoeuvreToleranceFactor : 1)
            let error = lastReported.extrapolated(to: fix.timeOfFix).distance(to: fix)
            return elapsed + tolerance >= maximumInterval || error > bound
        }
    }
}

extension Fix {
    /// Whether the fix contains the vehicle's motion: either standstill, or a speed with a heading.
    fileprivate var statesMotion: Bool {
        speedMetersPerSecond.map { $0 < Motion.movingSpeed || headingDegrees != nil } ?? false
    }
}

/// A detector of fixes at which a vehicle is turning, braking or accelerating. At such a fix, the position extrapolated
/// from a fix about two seconds earlier differs from the measured position.
private struct ManoeuvreDetector: Sendable {
    /// The minimum distance in metres between the fix and the extrapolated position. It is the effect of 0.5 m/s² in
    /// two seconds.
    private static let minimumDeviation = 1.0
    /// The minimum time between the fixes that are kept for comparison, at whatever rate they arrive.
    private static let minimumFixSpacing = Duration.milliseconds(900)
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
        if earlier.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.minimumFixSpacing }) ?? true {
            earliest = earlier
            earlier = fix
        }
    }
}
