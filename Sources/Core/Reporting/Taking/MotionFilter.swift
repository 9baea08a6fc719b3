import GNSS
import TimeAndRandomness

/// A filter that corrects accepted fixes by the vehicle's motion. A parked vehicle stays in one place, and speed,
/// heading and accuracy agree with the track.
struct MotionFilter: Sendable {
    private var track = DerivedMotion()
    private var deadReckoning = DeadReckoningAccuracy()
    private var classifier = MotionClassifier()
    private var headingFilter = HeadingFilter()
    /// The accuracy radius in metres that is assumed in `measured` for a fix without a reported radius.
    private static let defaultRadius = 25.0
    /// The vehicle's motion at the last fix; `nil` if it is unknown.
    private(set) var motion: Motion?

    /// The last fix; `nil` before the first fix. If the receiver's speed or accuracy is missing or wrong, the fix has
    /// values derived from the track. `Plausibility` compares the next fix with this fix.
    private(set) var measured: Fix?

    /// Whether the track contradicts the receiver's speeds or courses. If so, neither is reported.
    var contradictsReportedMotion: Bool { track.contradictsReportedMotion }

    /// Returns `fix` with the accuracy, position and motion to report. The time of the fix never changes.
    mutating func filtered(_ fix: Fix) -> Fix {
        var measured = deadReckoning.widen(track.complete(fix))
        if track.contradictsReportedMotion {
            measured.speedMetersPerSecond = nil
            measured.headingDegrees = nil
        }
        self.measured = measured
        self.measured?.horizontalAccuracyMeters =
            measured.horizontalAccuracyMeters ?? track.scatterRadius ?? Self.defaultRadius
        motion = classifier.motion(at: measured)
        var reported = motion?.place.map { Self.parkedFix(at: $0, for: measured) } ?? measured
        reported.speedMetersPerSecond = reported.knownSpeedMetersPerSecond
        reported.headingDegrees = reported.derived.headingDegrees ?? reported.headingDegrees
        reported.derived = TrackMotion()
        guard let motion else { return reported }
        return headingFilter.filter(reported, motion: motion.kind)
    }

    /// Returns a fix with the position `place` of the parked vehicle and the time of `fix`. The fixes of a parked
    /// vehicle wander, so reporting them would draw a star on a map.
    private static func parkedFix(at place: Fix, for fix: Fix) -> Fix {
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

/// A filter that decides which heading is reported with a fix, because the course over ground is noise at low speed.
///
/// A moving vehicle is reported with its course, a creeping vehicle with its last course, and a standing vehicle
/// without a heading. If the receiver reports the heading of the vehicle's body (HDT, THS), that heading is reported
/// for creeping and standing vehicles instead.
struct HeadingFilter: Sendable {
    /// The maximum time that a creeping vehicle keeps its last course.
    private static let maximumCourseAge = Duration.seconds(60)

    private var course: (degrees: Double, at: UTCTime)?

    /// Returns `fix` with the heading that suits the vehicle's `motion`, or without one if that heading is unknown.
    mutating func filter(_ fix: Fix, motion: Motion.Kind) -> Fix {
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
        return age >= .zero && age <= Self.maximumCourseAge ? course.degrees : nil
    }
}

/// The accuracy radius of dead reckoning (quality `estimated`). It grows with the time and distance since the last
/// satellite position, because receivers often repeat the accuracy from before a tunnel.
struct DeadReckoningAccuracy: Sendable {
    /// The growth of the radius in metres per second. The radius must grow because, without an odometer, the vehicle
    /// may be moving unnoticed.
    private static let growthPerSecond = 1.0
    /// The growth of the radius in metres per metre of the estimated track, because of the errors of odometers and
    /// gyroscopes.
    private static let growthPerMeter = 0.1
    /// The initial radius in metres if the receiver has reported none.
    private static let defaultRadius = 10.0

    /// The time of the last satellite position; before the first one, the time of the first estimate. It is `nil`
    /// before the first fix.
    private var estimatedSince: UTCTime?
    private var radius = defaultRadius
    /// The length in metres of the estimated track since the last satellite position.
    private var distance = 0.0
    private var previous: Fix?

    /// Returns `fix` with a wider radius if it is an estimate.
    mutating func widen(_ fix: Fix) -> Fix {
        defer { previous = fix }
        guard fix.quality == .estimated else {
            estimatedSince = fix.timeOfFix
            radius = fix.horizontalAccuracyMeters ?? Self.defaultRadius
            distance = 0
            return fix
        }
        if let previous { distance += previous.distance(to: fix) }
        let start = min(estimatedSince ?? fix.timeOfFix, fix.timeOfFix)
        estimatedSince = start
        let seconds = start.duration(to: fix.timeOfFix) / .seconds(1)
        let growth = max(seconds * Self.growthPerSecond, distance * Self.growthPerMeter)
        var widened = fix
        widened.horizontalAccuracyMeters = max(fix.horizontalAccuracyMeters ?? 0, radius + growth)
        return widened
    }
}
