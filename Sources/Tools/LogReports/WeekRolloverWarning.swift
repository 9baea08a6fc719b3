package import TimeAndRandomness
import TrackDrawing

/// A warning that a log's dates may be wrong because the receiver's week number has rolled over.
package enum WeekRolloverWarning {
    /// Returns the warning for a log that began at least 1024 weeks ago; otherwise `nil`.
    package static func text(forLogFrom begin: UTCTime, at now: UTCTime) -> String? {
        let later = begin.advanced(by: .seconds(1024 * 7 * 86_400))
        guard later <= now else { return nil }
        return
            "if the log was recorded 1024 weeks later, on \(FigureText.date(later)), the receiver's week number has rolled "
            + "over: update its firmware; waypost run repairs such dates"
    }
}
