package import GNSS
import LinuxPlatform

extension UTCTime {
    /// What the host's clock says.
    package static var system: UTCTime { UTCTime(millisecondsSince1970: SystemClock.millisecondsSince1970) }

    /// The same while something (NTP, a reference clock) keeps it right, else `nil`.
    package static var synchronizedSystem: UTCTime? { SystemClock.isSynchronized ? system : nil }

    /// The latest time that a fix can truthfully state now: ten minutes past the host's clock when something keeps that
    /// right, else the 1024 weeks after the release within which a receiver's date is unambiguous.
    package static var latestPlausible: UTCTime {
        synchronizedSystem?.advanced(by: .seconds(600)) ?? Release.date.advanced(by: .seconds(1024 * 7 * 86_400))
    }
}
