/// What a sequence of fixes comes to: the figures of a summary.
package struct TrackStatistics: Sendable {
    /// A time without a fix that is longer than usual.
    package struct Gap: Sendable, Hashable {
        package let from: UTCTime
        package let to: UTCTime
    }

    package private(set) var fixes = 0
    package private(set) var first: UTCTime?
    package private(set) var last: UTCTime?
    /// Metres along the track, without the way across gaps.
    package private(set) var distanceMeters = 0.0
    package private(set) var topSpeedMetersPerSecond: Double?
    package private(set) var worstAccuracyMeters: Double?
    package private(set) var gapCount = 0
    /// The first of the gaps.
    package private(set) var gaps: [Gap] = []
    /// Fixes whose time is not after the one before.
    package private(set) var backwardSteps = 0

    private var accuracySum = 0.0
    private var accuracyCount = 0
    private var previous: Fix?

    /// A gap is longer than this.
    package static let longestInterval = Duration.seconds(10)
    private static let keptGaps = 10

    package init() {}

    /// The mean of the accuracies that were stated or computed.
    package var meanAccuracyMeters: Double? { accuracyCount > 0 ? accuracySum / Double(accuracyCount) : nil }

    /// Adds the next fix.
    package mutating func add(_ fix: Fix) {
        fixes += 1
        first = first ?? fix.timeOfFix
        last = fix.timeOfFix
        if let speed = fix.speedMetersPerSecond { topSpeedMetersPerSecond = max(topSpeedMetersPerSecond ?? 0, speed) }
        if let accuracy = fix.horizontalAccuracyMeters {
            worstAccuracyMeters = max(worstAccuracyMeters ?? 0, accuracy)
            accuracySum += accuracy
            accuracyCount += 1
        }
        if let previous { step(from: previous, to: fix) }
        previous = fix
    }

    private mutating func step(from one: Fix, to next: Fix) {
        let interval = one.timeOfFix.duration(to: next.timeOfFix)
        if interval <= .zero {
            backwardSteps += 1
        } else if interval > Self.longestInterval {
            gapCount += 1
            if gaps.count < Self.keptGaps { gaps.append(Gap(from: one.timeOfFix, to: next.timeOfFix)) }
        } else {
            distanceMeters += one.distance(to: next)
        }
    }
}
