import TimeAndRandomness

/// A check of whether the speeds and courses that a receiver reports agree with its track.
///
/// Several consecutive fixes must contradict the track before the reported values are considered wrong. Many must agree
/// with the track before the values are trusted again.
struct StatedMotion: Sendable {
    /// The minimum duration in seconds of a path with which reported speeds are compared.
    private static let minimumPathSeconds = 3.0
    /// The tolerated error of a reported speed, in metres per second.
    private static let speedError = 1.0
    /// The tolerated error of a reported speed, as a fraction of the speed.
    private static let relativeSpeedError = 0.2
    /// The difference in degrees above which a reported course is wrong. Courses are compared only if the speed is at
    /// least `minimumCourseSpeed` metres per second.
    private static let maximumCourseDifference = 60.0
    private static let minimumCourseSpeed = 5.0
    /// The mean square of the distance between two fixes of one place, as a multiple of the square of their radius.
    private static let scatterStepFactor = 1.4
    /// The maximum time in seconds between two consecutive fixes. If it is longer, the straight line between them may
    /// cut a corner.
    private static let maximumStepSeconds = 3.0
    /// The number of consecutive comparisons that must contradict `isWrong` before it changes.
    private static let requiredComparisons = 5
    /// The minimum time for which fixes must contradict the track before reported values are considered wrong.
    private static let minimumContradictionTime = Duration.seconds(5)
    /// The minimum time for which fixes must agree with the track before reported values are trusted again.
    private static let minimumAgreementTime = Duration.seconds(30)

    private(set) var isWrong = false
    /// The number of consecutive comparisons that have contradicted `isWrong`.
    private var opposingComparisons = 0
    private var opposingSince: UTCTime?

    /// Returns whether the path to `fix` differs from the speed and course that the fix reports. Also returns `true`
    /// while reported values are considered wrong.
    mutating func checkContradiction(by fix: Fix, after track: [Fix]) -> Bool {
        guard !isWrong else { return true }
        guard let speed = fix.speedMetersPerSecond,
            let start = track.last(where: { $0.seconds(to: fix) >= Self.minimumPathSeconds })
        else { return false }
        let seconds = start.seconds(to: fix)
        let displacement = start.displacement(to: fix)
        let slack = seconds * (Self.speedError + speed * Self.relativeSpeedError)
        let isFar = abs(displacement.meters - speed * seconds) > slack
        let isTurned =
            displacement.meters > seconds * Self.minimumCourseSpeed
            && isCourseWrong(fix.headingDegrees, actual: displacement.degrees)
        if !isFar && !isTurned { opposingComparisons = 0 }
        return isFar || isTurned
    }

    /// Compares the path through the fixes of a few seconds with the speeds and courses that these fixes report.
    ///
    /// - Parameters:
    ///   - fixes: the fixes, oldest first.
    ///   - errors: the sum of the first and the last fix's position errors, in metres.
    ///   - scatterRadius: the 68 % radius in metres, estimated from the scatter of the fixes.
    ///   - course: the course in degrees of the newest part of the path; `nil` if that part has no clear course.
    mutating func comparePath(of fixes: [Fix], errors: Double, scatterRadius: Double, course: Double?) {
        guard let first = fixes.first, let last = fixes.last, first.seconds(to: last) >= Self.minimumPathSeconds else {
            return
        }
        var pathLength = 0.0
        var statedLength = 0.0
        for (one, next) in zip(fixes, fixes.dropFirst()) {
            let seconds = one.seconds(to: next)
            guard seconds <= Self.maximumStepSeconds, let before = one.speedMetersPerSecond,
                let after = next.speedMetersPerSecond
            else { return }
            let step = one.distance(to: next)
            pathLength += max(0, step * step - Self.scatterStepFactor * scatterRadius * scatterRadius).squareRoot()
            statedLength += (before + after) / 2 * seconds
        }
        let seconds = first.seconds(to: last)
        let slack = errors + seconds * Self.speedError + statedLength * Self.relativeSpeedError
        let isFast = pathLength >= seconds * Self.minimumCourseSpeed
        let isTurned = isFast && isCourseWrong(fixes[fixes.count / 2].headingDegrees, actual: course)
        let contradicts = isTurned || abs(pathLength - statedLength) > slack
        let agrees = isFast && !isTurned && abs(pathLength - statedLength) < slack / 2
        recordComparison(isOpposed: isWrong ? agrees : contradicts, at: last.timeOfFix)
    }

    private func isCourseWrong(_ stated: Double?, actual course: Double?) -> Bool {
        guard let stated, let course else { return false }
        let turn = abs(stated - course)
        return min(turn, 360 - turn) > Self.maximumCourseDifference
    }

    private mutating func recordComparison(isOpposed: Bool, at time: UTCTime) {
        guard isOpposed else {
            opposingComparisons = 0
            return
        }
        if opposingComparisons == 0 { opposingSince = time }
        opposingComparisons += 1
        guard opposingComparisons >= Self.requiredComparisons, let opposingSince,
            opposingSince.duration(to: time) >= (isWrong ? Self.minimumAgreementTime : Self.minimumContradictionTime)
        else { return }
        isWrong.toggle()
        opposingComparisons = 0
    }
}
