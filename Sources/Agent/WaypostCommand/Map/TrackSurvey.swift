import GNSS

/// All that a page shows of a track, gathered fix by fix in bounded memory.
struct TrackSurvey: Sendable {
    private(set) var summary = TrackSummary()
    private(set) var profile = TrackProfile()
    private(set) var speeds = SpeedHistogram()
    private var map = MapTrack()
    private var steady = SteadyFixes()

    /// Adds the next fix.
    mutating func add(_ fix: Fix) {
        let step = summary.add(fix)
        steady.take(fix, step) { map.add($0, beginsPiece: $1) }
        if case .broken = step { profile.add(fix, beginsRun: true) } else { profile.add(fix, beginsRun: false) }
        if let speed = fix.speedMetersPerSecond { speeds.add(speed) }
    }

    /// The track as it is drawn, once all fixes are there.
    var drawn: MapTrack {
        var (map, steady) = (map, steady)
        steady.finish { map.add($0, beginsPiece: $1) }
        return map
    }
}
