package import GNSS

/// Which release this is.
package enum Release {
    package static let version = "0.1.0"
    /// When this release was made: no live receiver can truthfully state an earlier time.
    package static let date = UTCTime(year: 2026, month: 11, day: 1)
}
