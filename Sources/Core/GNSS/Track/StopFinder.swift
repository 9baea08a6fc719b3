/// Decides where a track stops: at least a minute within 25 m, never faster than 1 m/s for long.
///
/// A gap whose two ends lie in one place belongs to the stop, for many a vehicle switches its receiver off where it
/// parks. One wild fix does not make two stops of one.
package struct StopFinder: Sendable {
    package static let shortest = Duration.seconds(60)
    /// Parked receivers wander up to 20 m; those that know no better, as far as they say, within reason.
    private static let radiusMeters = 25.0...50.0
    /// Faster than the speed that parked receivers state.
    private static let fastestSpeed = 1.0
    /// For so long it may seem to move and still stand.
    private static let longestInterruption = Duration.seconds(30)

    private var stops = LongestFew<TrackStop>(capacity: 200)
    /// All stops that are complete, together.
    private var time = Duration.zero
    /// What may become a stop.
    private var candidate: TrackStop?
    /// A stop that may yet go on.
    private var latest: TrackStop?

    package init() {}

    /// Every stop so far, those under way included: how many, how long together, and the longest of them in order.
    package var found: (count: Int, time: Duration, longest: [TrackStop]) {
        var ended = self
        ended.endCandidate()
        ended.keepLatest()
        return (ended.stops.count, ended.time, ended.stops.elements())
    }

    /// Takes the next fix, which follows the one before by `step`.
    package mutating func add(_ fix: Fix, _ step: TrackContinuity.Step) {
        var gap = Duration.zero
        if case .broken(let place) = step {
            if place.cause == .backward {
                endCandidate()
                keepLatest()
            }
            if place.cause == .gap { gap = place.duration }
        }
        let stands = (fix.speedMetersPerSecond ?? 0) < Self.fastestSpeed
        if let stop = candidate {
            let radius = min(
                max(fix.horizontalAccuracyMeters ?? 0, Self.radiusMeters.lowerBound), Self.radiusMeters.upperBound)
            if stop.place.distance(to: fix) <= radius {
                if stands { candidate?.extend(to: fix, gap: gap) }
                if stands || stop.to.duration(to: fix.timeOfFix) <= Self.longestInterruption { return }
            }
            endCandidate()
        }
        if stands { candidate = TrackStop(at: fix) }
    }

    private mutating func endCandidate() {
        defer { candidate = nil }
        guard let candidate, candidate.duration >= Self.shortest else { return }
        if let latest, latest.to.duration(to: candidate.from) <= Self.longestInterruption,
            latest.place.distance(to: candidate.place) <= Self.radiusMeters.upperBound
        {
            self.latest?.extend(by: candidate)
        } else {
            keepLatest()
            latest = candidate
        }
    }

    private mutating func keepLatest() {
        guard let latest else { return }
        stops.add(latest, weight: latest.duration)
        time += latest.duration
        self.latest = nil
    }
}
