package import TimeAndChance

package enum Release {
    package static let version = "0.1.0"
    /// When this release was made: no live receiver can truthfully state an earlier time.
    package static let date = UTCTime(year: 2026, month: 11, day: 1)

    /// The latest time that a fix can truthfully state: ten minutes past `present`, when anything trustworthy knows it,
    /// else the 1024 weeks after the release within which a receiver's date is unambiguous.
    package static func latestFix(at present: UTCTime?) -> UTCTime {
        present?.advanced(by: .seconds(600)) ?? date.advanced(by: .seconds(1024 * 7 * 86_400))
    }
}
