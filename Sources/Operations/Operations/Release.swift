package import TimeAndRandomness

/// The version and the date of this release.
package enum Release {
    package static let version = "0.1.0"
    /// The release date. A live receiver that reports an earlier time is wrong.
    package static let date = UTCTime(year: 2026, month: 11, day: 1)

    /// Returns the latest time that a fix can correctly have: ten minutes after `present`. If `present` is `nil`,
    /// because no trusted clock provides it, the result is 1024 weeks after the release. Until that time, a receiver's
    /// date is unambiguous.
    package static func latestFixTime(at present: UTCTime?) -> UTCTime {
        present?.advanced(by: .seconds(600)) ?? date.advanced(by: .seconds(1024 * 7 * 86_400))
    }
}
