import GNSS

/// The part of a track that its map is made for.
struct MapTrack: Sendable {
    private(set) var line = TrackLine()
    private(set) var start: Fix?
    private(set) var end: Fix?

    private var latestSpeed: (value: Double, time: UTCTime)?

    /// Adds the next fix; one that states no speed has that of a moment before.
    mutating func add(_ fix: Fix, beginsPiece: Bool) {
        var fix = fix
        if beginsPiece { latestSpeed = nil }
        if let speed = fix.speedMetersPerSecond {
            latestSpeed = (speed, fix.timeOfFix)
        } else if let latestSpeed, latestSpeed.time.duration(to: fix.timeOfFix) <= TrackContinuity.longestInterval {
            fix.speedMetersPerSecond = latestSpeed.value
        }
        line.add(fix, beginsPiece: beginsPiece)
        start = start ?? fix
        end = fix
    }
}
