import GNSS
import TimeAndChance

/// What a vehicle's motion says about its fixes: accepted fixes in, fixes worth reporting out.
struct MotionFilter: Sendable {
    private var track = DerivedMotion()
    private var deadReckoning = DeadReckoningAccuracy()
    private var place = StationaryHold()
    private var heading = HeadingHold()

    /// `fix` with the accuracy, place and motion that it is reported with; its time never changes.
    mutating func filtered(_ fix: Fix) -> Fix {
        var fix = track.completed(fix)
        fix.speedMetersPerSecond = fix.speedMetersPerSecond ?? fix.derivedSpeedMetersPerSecond
        fix.headingDegrees = fix.headingDegrees ?? fix.derivedHeadingDegrees
        (fix.derivedSpeedMetersPerSecond, fix.derivedHeadingDegrees) = (nil, nil)
        return heading.steadied(place.held(deadReckoning.widened(fix)))
    }
}

/// Keeps a standing vehicle in one place: its fixes wander by metres, and would draw a star on the map.
///
/// After a few seconds at standstill every fix repeats the place at which the vehicle came to rest, until it moves off
/// or the fixes leave the circle that their accuracy allows. A fix without a speed is passed on as it is.
struct StationaryHold: Sendable {
    /// How long it stands before its place is held.
    private static let settlingTime = Duration.seconds(5)
    /// The least that a position may wander, in metres, and what counts as its error when none is stated.
    private static let leastReach = 15.0
    private static let usualError = 25.0
    /// How far two fixes of one place may be apart, in sums of their 68 % radii: 99 of 100 are nearer.
    private static let spread = 1.5

    private var standingSince: UTCTime?
    private var place: Fix?

    /// `fix` at the place held, or as it is.
    mutating func held(_ fix: Fix) -> Fix {
        guard let speed = fix.speedMetersPerSecond, speed < Motion.creepingSpeed, !hasLeft(fix) else {
            (standingSince, place) = (nil, nil)
            return fix
        }
        if let place { return repetition(of: place, for: fix) }
        guard speed < Motion.stillSpeed else {
            standingSince = nil
            return fix
        }
        let since = standingSince ?? fix.timeOfFix
        standingSince = since
        if since.duration(to: fix.timeOfFix) >= Self.settlingTime { place = fix }
        return fix
    }

    private func hasLeft(_ fix: Fix) -> Bool {
        if let standingSince, fix.timeOfFix < standingSince { return true }
        guard let place else { return false }
        let errors =
            (place.horizontalAccuracyMeters ?? Self.usualError) + (fix.horizontalAccuracyMeters ?? Self.usualError)
        return place.distance(to: fix) > max(Self.leastReach, errors * Self.spread)
    }

    /// A place that turns out much better than the one held takes its place: a receiver that has just started errs.
    private mutating func repetition(of place: Fix, for fix: Fix) -> Fix {
        if let worse = place.horizontalAccuracyMeters, let better = fix.horizontalAccuracyMeters, better < worse / 2 {
            self.place = fix
            return fix
        }
        var held = place
        held.timeOfFix = fix.timeOfFix
        held.speedMetersPerSecond = 0
        held.headingDegrees = nil
        held.bodyHeadingDegrees = fix.bodyHeadingDegrees
        held.quality = fix.quality
        return held
    }
}

/// Decides which heading a fix goes out with: at low speed the course over ground is noise.
///
/// A moving vehicle has its course; one that creeps keeps the course it had; one that stands has none, unless the
/// receiver knows where the body points (HDT, THS).
struct HeadingHold: Sendable {
    /// How long a course is kept.
    private static let longestHold = Duration.seconds(60)

    private var isMoving = false
    private var course: (degrees: Double, at: UTCTime)?

    /// `fix` with the heading that is true of the vehicle; absent where there is none.
    mutating func steadied(_ fix: Fix) -> Fix {
        guard let speed = fix.speedMetersPerSecond else { return fix }
        isMoving = speed >= (isMoving ? Motion.creepingSpeed : Motion.movingSpeed)
        var fix = fix
        if isMoving {
            course = fix.headingDegrees.map { ($0, fix.timeOfFix) }
        } else if speed < Motion.standingSpeed {
            fix.headingDegrees = fix.bodyHeadingDegrees
        } else {
            fix.headingDegrees = fix.bodyHeadingDegrees ?? keptCourse(at: fix.timeOfFix)
        }
        return fix
    }

    private func keptCourse(at time: UTCTime) -> Double? {
        guard let course else { return nil }
        let age = course.at.duration(to: time)
        return age >= .zero && age <= Self.longestHold ? course.degrees : nil
    }
}

/// Widens the accuracy of positions that a receiver only reckons (quality `estimated`), the longer it has not seen a
/// satellite: what it states then is often the accuracy from before the tunnel.
struct DeadReckoningAccuracy: Sendable {
    /// Metres a second by which the radius grows: some per cent of the way at the speed of traffic.
    private static let growth = 1.0
    /// Radius in metres from which it grows when none was stated.
    private static let usualRadius = 10.0

    /// When satellites gave the position last, or, before they ever did, when reckoning was met first.
    private var since: UTCTime?
    private var radius = usualRadius

    /// `fix` with the radius that it deserves; a fix from satellites stays as it is.
    mutating func widened(_ fix: Fix) -> Fix {
        guard fix.quality == .estimated else {
            (since, radius) = (fix.timeOfFix, fix.horizontalAccuracyMeters ?? Self.usualRadius)
            return fix
        }
        let start = min(since ?? fix.timeOfFix, fix.timeOfFix)
        since = start
        let seconds = start.duration(to: fix.timeOfFix) / .seconds(1)
        var fix = fix
        fix.horizontalAccuracyMeters = max(fix.horizontalAccuracyMeters ?? 0, radius + seconds * Self.growth)
        return fix
    }
}
