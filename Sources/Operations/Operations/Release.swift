package import TimeAndChance

/// The release of Waypost that this build is.
package enum Release {
    package static let version = "0.1.0"
    /// The release date. No live receiver can correctly report an earlier time.
    package static let date = UTCTime(year: 2026, month: 11, day: 1)

    /// Returns the latest time that a fix can correctly have. It is ten minutes after `present` if a trusted clock
    /// knows that, otherwise 1024 weeks after the release, the span within which a receiver's date is unambiguous.
    package static func latestFix(at present: UTCTime?) -> UTCTime {
        present?.advanced(by: .seconds(600)) ?? date.advanced(by: .seconds(1024 * 7 * 86_400))
    }
}
