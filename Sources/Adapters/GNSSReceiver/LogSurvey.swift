package import GNSS
import LocationReporting

/// What a first quick reading finds out about logs that are to be replayed.
package struct LogSurvey: Sendable, Hashable {
    package private(set) var fixes = 0
    package private(set) var firstTimeOfFix: UTCTime?
    package private(set) var lastTimeOfFix: UTCTime?
    /// From the first fix to the last at speed 1, long gaps skipped (see `ReplayTimeline`).
    package private(set) var length = Duration.zero

    /// The earliest and the latest time in the logs; they need not be the first and the last.
    private var earliest: UTCTime?
    private var latest: UTCTime?

    init() {}

    /// From the earliest time of fix to the latest.
    var span: Duration {
        guard let earliest, let latest else { return .zero }
        return earliest.duration(to: latest)
    }

    mutating func add(_ timeOfFix: UTCTime) {
        fixes += 1
        firstTimeOfFix = firstTimeOfFix ?? timeOfFix
        if let lastTimeOfFix { length += ReplayTimeline.step(from: lastTimeOfFix, to: timeOfFix) }
        lastTimeOfFix = timeOfFix
        earliest = min(earliest ?? timeOfFix, timeOfFix)
        latest = max(latest ?? timeOfFix, timeOfFix)
    }
}
