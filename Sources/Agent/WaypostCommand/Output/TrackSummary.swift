import GNSS

/// The figures of a track, stops included.
struct TrackSummary: Sendable {
    private(set) var statistics = TrackStatistics()
    private(set) var stops = StopFinder()

    /// Adds the next fix; tells how it follows the one before.
    @discardableResult
    mutating func add(_ fix: Fix) -> TrackContinuity.Step {
        let step = statistics.add(fix)
        stops.add(fix, step)
        return step
    }
}
