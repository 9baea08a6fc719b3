package import GNSS
import TimeAndChance

/// Decides which fixes become updates: a moving vehicle by its policy, a parked one at the heartbeat.
///
/// All times are times of fix, so that a log replayed at any speed gives the same updates; what a request's own time
/// forbids, `RequestSpacing` says. Fleet Engine asks for at most one update in 5 s and at least one in 60 s (Fleet
/// Engine guide, "Update a vehicle location").
package struct ReportingPolicy: Sendable {
    /// What makes an update of a moving vehicle due.
    package enum Kind: Sendable, Hashable {
        /// The given time since the previous update.
        case interval(Duration)
        /// A follower would be off by more than `liveToleranceMeters`, or a little more while the vehicle turns, brakes
        /// or speeds up; or `maximumInterval` has passed since the previous update.
        case accuracy(liveToleranceMeters: Int, maximumInterval: Duration)

        /// The most time between two updates of a moving vehicle.
        package var maximumInterval: Duration {
            switch self {
            case .interval(let interval), .accuracy(_, let interval): interval
            }
        }
    }

    /// The shortest time between two updates, also when a parked vehicle moves off.
    private static let shortestInterval = Duration.seconds(5)
    /// What a receiver's times of fix are off their second.
    private static let jitter = Duration.milliseconds(100)
    /// The shortest that is not too short.
    static let leastSpacing = shortestInterval - jitter

    /// What is told in a manoeuvre is wrong again a moment later: the bound is by so much wider until its end.
    private static let manoeuvreSlack = 1.18

    /// Metres that a usual manoeuvre takes a vehicle off, for each second of an interval, and a start before its motion
    /// is known.
    private static let manoeuvreMeters = 7.0
    private static let startMeters = 20.0
    /// The radius in metres of a position that states none.
    private static let usualRadius = 10.0

    private let kind: Kind
    private let heartbeat: Duration
    private var manoeuvre = Manoeuvre()
    /// As it was told: with a rounded place, a whole heading, none at standstill.
    private var lastTold: Fix?
    private var lastSeen: UTCTime?
    /// From the fix before to the last.
    private var spacing = Duration.zero
    /// At the last fix.
    private var isParked = false
    /// Whether it has moved off, of which no update tells yet.
    private var hasDeparted = false

    package init(_ kind: Kind, heartbeat: Duration) {
        self.kind = kind
        self.heartbeat = heartbeat
    }

    /// Knows nothing of before from now on.
    mutating func beginAnew() { self = Self(kind, heartbeat: heartbeat) }

    /// Takes note of `fix`, of a vehicle that does as `motion` says, before anything is asked about it.
    package mutating func observe(_ fix: Fix, _ motion: Motion?) {
        let wasParked = isParked
        isParked = motion?.isParked ?? false
        hasDeparted = !isParked && (wasParked || hasDeparted)
        spacing = lastSeen.map { $0.duration(to: fix.timeOfFix) } ?? .zero
        lastSeen = fix.timeOfFix
        manoeuvre.observe(fix)
    }

    /// Takes note that `fix` has become an update.
    package mutating func didReport(_ fix: Fix) {
        var told = Fix(LocationUpdate(fix))
        // Exact: a rounded speed would decide otherwise at the bound.
        told.speedMetersPerSecond = fix.speedMetersPerSecond
        told.horizontalAccuracyMeters = fix.horizontalAccuracyMeters
        lastTold = told
        hasDeparted = false
    }

    /// Whether `told`, driven on as a follower does, is known to be wrong by `fix`: farther off than the errors of both
    /// and the usual manoeuvres of an interval explain.
    private func isWrong(_ told: Fix, by fix: Fix) -> Bool {
        let off = told.extrapolated(to: fix.timeOfFix).distance(to: fix)
        let errors = [told, fix].reduce(0) { $0 + ($1.horizontalAccuracyMeters ?? Self.usualRadius) }
        if isParked { return off > errors }
        guard case .interval(let interval) = kind else { return false }
        if !told.statesMotion { return fix.statesMotion && off > errors + Self.startMeters }
        return off > errors + interval / .seconds(1) * Self.manoeuvreMeters
    }

    /// Whether `fix` may be reported even if it is not due.
    func mayReport(_ fix: Fix) -> Bool {
        lastTold.map { $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.leastSpacing } ?? true
    }

    /// Whether `fix`, the last that was observed, is due.
    package func isDue(_ fix: Fix) -> Bool {
        guard let lastTold else { return true }
        let elapsed = lastTold.timeOfFix.duration(to: fix.timeOfFix)
        if elapsed < .zero { return true }  // the receiver's clock was set back, and Plausibility accepted it
        if elapsed < Self.leastSpacing { return false }
        if isWrong(lastTold, by: fix) { return true }
        if isParked {
            return elapsed + max(.zero, min(spacing, .seconds(5))) > heartbeat
        }
        // A fix is due when waiting for the next one would miss the interval by more than taking this one does.
        let tolerance = max(.zero, min(spacing, .seconds(1)) / 2)
        switch kind {
        case .interval(let interval):
            return elapsed + tolerance >= (hasDeparted ? min(interval, Self.shortestInterval) : interval)
        case .accuracy(let meters, let longest):
            let bound = Double(meters) * (manoeuvre.isUnderWay ? Self.manoeuvreSlack : 1)
            return elapsed + tolerance >= longest || lastTold.extrapolated(to: fix.timeOfFix).distance(to: fix) > bound
        }
    }
}

extension Fix {
    /// Whether it says how the vehicle moves on.
    fileprivate var statesMotion: Bool {
        speedMetersPerSecond.map { $0 < Motion.movingSpeed || headingDegrees != nil } ?? false
    }
}

/// Decides whether a vehicle turns, brakes or speeds up at a fix: two seconds ago it was not on its way to here.
private struct Manoeuvre: Sendable {
    /// Metres by which it is off that way: half a metre a second squared.
    private static let leastDeviation = 1.0
    /// Between the fixes that are compared, at whatever rate they come.
    private static let spacing = Duration.milliseconds(900)
    private static let longestAge = Duration.seconds(4)

    private(set) var isUnderWay = false
    private var earlier: Fix?
    private var earliest: Fix?

    mutating func observe(_ fix: Fix) {
        // Their time will not come again where the receiver's clock was set back.
        if let earlier, fix.timeOfFix < earlier.timeOfFix {
            self.earlier = nil
            earliest = nil
        }
        let age = earliest.map { $0.timeOfFix.duration(to: fix.timeOfFix) } ?? .zero
        let deviation = earliest.map { $0.extrapolated(to: fix.timeOfFix).distance(to: fix) } ?? 0
        isUnderWay = age > .zero && age <= Self.longestAge && deviation > Self.leastDeviation
        if earlier.map({ $0.timeOfFix.duration(to: fix.timeOfFix) >= Self.spacing }) ?? true {
            earliest = earlier
            earlier = fix
        }
    }
}
