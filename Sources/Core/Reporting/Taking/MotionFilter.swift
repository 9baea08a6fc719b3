import GNSS
import TimeAndChance

/// What a vehicle's motion says about its fixes: accepted fixes in, fixes worth reporting out.
struct MotionFilter: Sendable {
    private var track = DerivedMotion()
    private var deadReckoning = DeadReckoningAccuracy()
    private var classifier = MotionClassifier()
    private var heading = HeadingHold()
    /// The radius in metres of a fix that states none, for the next one to be judged by.
    private static let usualRadius = 25.0
    /// What the vehicle does at the last fix; `nil` when nothing tells.
    private(set) var motion: Motion?

    /// The last fix with the speed and the radius that its track shows, for the next one to be judged by.
    private(set) var measured: Fix?

    /// Whether the receiver states speeds or courses that its track contradicts; they aren't reported.
    var contradictsStated: Bool { track.contradictsStated }

    /// `fix` with the accuracy, place and motion that it is reported with; its time never changes.
    mutating func filtered(_ fix: Fix) -> Fix {
        var measured = deadReckoning.widened(track.completed(fix))
        if track.contradictsStated {
            measured.speedMetersPerSecond = nil
            measured.headingDegrees = nil
        }
        self.measured = measured
        self.measured?.horizontalAccuracyMeters =
            measured.horizontalAccuracyMeters ?? track.shownRadius ?? Self.usualRadius
        motion = classifier.motion(at: measured)
        var reported = motion?.place.map { Self.repetition(of: $0, for: measured) } ?? measured
        reported.speedMetersPerSecond = reported.knownSpeedMetersPerSecond
        reported.headingDegrees = reported.derived.headingDegrees ?? reported.headingDegrees
        reported.derived = TrackMotion()
        guard let motion else { return reported }
        return heading.steadied(reported, motion.kind)
    }

    /// The place of a parked vehicle at the time of `fix`: its fixes wander and would draw a star on a map.
    private static func repetition(of place: Fix, for fix: Fix) -> Fix {
        guard place != fix else { return fix }
        var held = place
        held.timeOfFix = fix.timeOfFix
        held.speedMetersPerSecond = 0
        held.derived.speedMetersPerSecond = nil
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

    private var course: (degrees: Double, at: UTCTime)?

    /// `fix` of a vehicle that does as `motion` says, with the heading that is true of it; absent where there is none.
    mutating func steadied(_ fix: Fix, _ motion: Motion.Kind) -> Fix {
        var fix = fix
        switch motion {
        case .moving: course = fix.headingDegrees.map { ($0, fix.timeOfFix) }
        case .creeping: fix.headingDegrees = fix.bodyHeadingDegrees ?? keptCourse(at: fix.timeOfFix)
        case .standing, .parked: fix.headingDegrees = fix.bodyHeadingDegrees
        }
        return fix
    }

    private func keptCourse(at time: UTCTime) -> Double? {
        guard let course else { return nil }
        let age = course.at.duration(to: time)
        return age >= .zero && age <= Self.longestHold ? course.degrees : nil
    }
}

/// Widens the accuracy of positions that a receiver only reckons (quality `estimated`), with the time and the distance
/// since it saw a satellite: what it states then is often the accuracy from before the tunnel.
struct DeadReckoningAccuracy: Sendable {
    /// Metres by which the radius grows for each second: a receiver that reckons without an odometer may be moving.
    private static let growthPerSecond = 1.0
    /// Metres by which the radius grows for each metre of the reckoned track: the error of odometers and gyroscopes.
    private static let growthPerMeter = 0.1
    /// Radius in metres from which it grows when none was stated.
    private static let usualRadius = 10.0

    /// When satellites gave the position last, or, before they ever did, when reckoning was met first.
    private var since: UTCTime?
    private var radius = usualRadius
    /// Metres along the reckoned track since then.
    private var distance = 0.0
    private var previous: Fix?

    /// `fix` with the radius that it deserves; a fix from satellites stays as it is.
    mutating func widened(_ fix: Fix) -> Fix {
        defer { previous = fix }
        guard fix.quality == .estimated else {
            since = fix.timeOfFix
            radius = fix.horizontalAccuracyMeters ?? Self.usualRadius
            distance = 0
            return fix
        }
        if let previous { distance += previous.distance(to: fix) }
        let start = min(since ?? fix.timeOfFix, fix.timeOfFix)
        since = start
        let seconds = start.duration(to: fix.timeOfFix) / .seconds(1)
        let growth = max(seconds * Self.growthPerSecond, distance * Self.growthPerMeter)
        var widened = fix
        widened.horizontalAccuracyMeters = max(fix.horizontalAccuracyMeters ?? 0, radius + growth)
        return widened
    }
}
