import GNSS

/// All that a page shows of a track, gathered fix by fix in bounded memory.
struct TrackSurvey: Sendable {
    private(set) var summary = TrackSummary()
    private(set) var line = TrackLine()
    private(set) var profile = TrackProfile()
    private(set) var speeds = SpeedHistogram()
    private(set) var start: Fix?
    private(set) var end: Fix?

    /// Adds the next fix.
    mutating func add(_ fix: Fix) {
        var isBroken = false
        if case .broken = summary.add(fix) { isBroken = true }
        line.add(fix, beginsPiece: isBroken)
        profile.add(fix, beginsRun: isBroken)
        if let speed = fix.speedMetersPerSecond { speeds.add(speed) }
        start = start ?? fix
        end = fix
    }
}
