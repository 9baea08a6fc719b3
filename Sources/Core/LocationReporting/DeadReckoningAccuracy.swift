import GNSS

/// Widens the accuracy of positions that a receiver only reckons (quality `estimated`), the longer it has not seen a
/// satellite: what it states then is often the accuracy from before the tunnel.
struct DeadReckoningAccuracy: Sendable {
    /// Metres a second by which the radius grows: some per cent of the way at the speed of traffic.
    static let growth = 1.0
    /// Radius in metres from which it grows when none was stated.
    static let usualRadius = 10.0

    /// When satellites gave the position last, or, before they ever did, when reckoning was met first.
    private var since: UTCTime?
    private var radius = usualRadius

    init() {}

    /// `fix` with the radius that it deserves; a fix from satellites stays as it is.
    mutating func widened(_ fix: Fix) -> Fix {
        guard fix.quality == .estimated else {
            (since, radius) = (fix.timeOfFix, fix.horizontalAccuracyMeters ?? Self.usualRadius)
            return fix
        }
        let start = min(since ?? fix.timeOfFix, fix.timeOfFix)
        since = start
        let seconds = start.duration(to: fix.timeOfFix) / .seconds(1)
        var fix = fix
        fix.horizontalAccuracyMeters = max(fix.horizontalAccuracyMeters ?? 0, radius + seconds * Self.growth)
        return fix
    }
}
