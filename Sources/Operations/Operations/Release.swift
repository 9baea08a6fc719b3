package import TimeAndChance

/// The version and the date of this release of Waypost.
package enum Release {
    package static let version = "0.1.0"
    /// The release date. No live receiver can correctly report an earlier time.
    package static let date = UTCTime(year: 2026, month: 11, day: 1)

    /// Returns the latest time that a fix can correctly have: ten minutes after `present`, or, if no trusted clock
    /// knows the present, 1024 weeks after the release. Within that span, a receiver's date is unambiguous.
    package static func latestFix(at present: UTCTime?) -> UTCTime {
        present?.advanced(by: .seconds(600)) ?? date.advanced(by: .seconds(1024 * 7 * 86_400))
    }
}
