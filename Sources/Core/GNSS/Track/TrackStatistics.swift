package import TimeAndChance

/// What a sequence of fixes comes to: the figures of a summary.
package struct TrackStatistics: Sendable {
    package private(set) var fixes = 0
    /// Time of the first fix and of the last one, in the order in which they came.
    package private(set) var first: UTCTime?
    package private(set) var last: UTCTime?
    /// Metres along the track, without the way across gaps and jumps.
    package private(set) var distanceMeters = 0.0
    package private(set) var topSpeedMetersPerSecond: Double?
    package private(set) var worstAccuracyMeters: Double?
    /// Where the track breaks; of very many, those that matter most.
    package private(set) var breaks = LongestFew<TrackBreak>(capacity: 100)
    package private(set) var gapCount = 0
    /// All gaps together.
    package private(set) var gapTime = Duration.zero
    /// Fixes whose time is not after the one before.
    package private(set) var backwardSteps = 0
    package private(set) var jumpCount = 0

    private var accuracySum = 0.0
    private var accuracyCount = 0
    private var continuity = TrackContinuity()

    package init() {}

    /// The mean of the accuracies that were stated or computed.
    package var meanAccuracyMeters: Double? { accuracyCount > 0 ? accuracySum / Double(accuracyCount) : nil }

    /// Adds the next fix; tells how it follows the one before.
    @discardableResult
    package mutating func add(_ fix: Fix) -> TrackContinuity.Step {
        fixes += 1
        first = first ?? fix.timeOfFix
        last = fix.timeOfFix
        if let speed = fix.speedMetersPerSecond { topSpeedMetersPerSecond = max(topSpeedMetersPerSecond ?? 0, speed) }
        if let accuracy = fix.horizontalAccuracyMeters {
            worstAccuracyMeters = max(worstAccuracyMeters ?? 0, accuracy)
            accuracySum += accuracy
            accuracyCount += 1
        }
        let step = continuity.step(to: fix)
        switch step {
        case .first: break
        case .onward(let meters): distanceMeters += meters
        case .broken(let place): count(place)
        }
        return step
    }

    private mutating func count(_ place: TrackBreak) {
        breaks.add(place, weight: place.weight)
        switch place.cause {
        case .gap:
            gapCount += 1
            gapTime += place.duration
        case .backward: backwardSteps += 1
        case .jump: jumpCount += 1
        }
    }
}
