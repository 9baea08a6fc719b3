package import TimeAndRandomness

/// The statistics of a track.
package struct TrackStatistics: Sendable {
    package private(set) var fixCount = 0
    /// The time of the first fix that was added; `nil` before the first fix.
    package private(set) var firstTime: UTCTime?
    /// The time of the last fix that was added; `nil` before the first fix.
    package private(set) var lastTime: UTCTime?
    /// The length of the track in metres, without gaps and jumps.
    package private(set) var distanceMeters = 0.0
    package private(set) var topSpeedMetersPerSecond: Double?
    package private(set) var worstAccuracyMeters: Double?
    /// The most important breaks in the track.
    package private(set) var breaks = LongestElements<TrackBreak>(capacity: 100)
    package private(set) var gapCount = 0
    /// The total time of all gaps.
    package private(set) var gapTime = Duration.zero
    /// The number of fixes that aren't later than the previous fix.
    package private(set) var backwardSteps = 0
    package private(set) var jumpCount = 0

    private var accuracySum = 0.0
    private var accuracyCount = 0
    private var continuity = TrackContinuity()

    package init() {}

    package var meanAccuracyMeters: Double? { accuracyCount > 0 ? accuracySum / Double(accuracyCount) : nil }

    /// Adds the next fix. Returns whether the track continues to this fix, or why it breaks.
    @discardableResult
    package mutating func add(_ fix: Fix) -> TrackContinuity.Step {
        fixCount += 1
        firstTime = firstTime ?? fix.timeOfFix
        lastTime = fix.timeOfFix
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
        case .broken(let place): countBreak(place)
        }
        return step
    }

    private mutating func countBreak(_ place: TrackBreak) {
        breaks.add(place, length: place.weight)
        switch place.cause {
        case .gap:
            gapCount += 1
            gapTime += place.duration
        case .backward: backwardSteps += 1
        case .jump: jumpCount += 1
        }
    }
}
