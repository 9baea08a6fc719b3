import GNSS

/// Decides which heading a fix goes out with: at low speed the course over ground is noise.
///
/// A moving vehicle has its course; one that creeps keeps the course it had; one that stands has none, unless the
/// receiver knows where the body points (HDT, THS).
struct HeadingHold: Sendable {
    /// Metres a second from which a course is believed, and below which no more: apart, so that it does not flicker.
    static let movingSpeed = 1.5
    static let creepingSpeed = 1.0
    /// Metres a second below which a vehicle stands.
    static let standingSpeed = 0.5
    /// How long a course is kept.
    static let longestHold = Duration.seconds(60)

    private var isMoving = false
    private var course: (degrees: Double, at: UTCTime)?

    init() {}

    /// `fix` with the heading that is true of the vehicle; absent where there is none.
    mutating func steadied(_ fix: Fix) -> Fix {
        guard let speed = fix.speedMetersPerSecond else { return fix }
        isMoving = speed >= (isMoving ? Self.creepingSpeed : Self.movingSpeed)
        var fix = fix
        if isMoving {
            course = fix.headingDegrees.map { ($0, fix.timeOfFix) }
        } else if speed < Self.standingSpeed {
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
