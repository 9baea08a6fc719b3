package import GNSS
import LinuxPlatform

extension UTCTime {
    /// What the host's clock says.
    package static var system: UTCTime { UTCTime(millisecondsSince1970: SystemClock.millisecondsSince1970) }

    /// The latest time that a fix can truthfully state now: ten minutes past the host's clock when something keeps that
    /// right, else the 1024 weeks after the release within which a receiver's date is unambiguous.
    package static var latestPlausible: UTCTime {
        SystemClock.isSynchronized
            ? system.advanced(by: .seconds(600)) : Release.date.advanced(by: .seconds(1024 * 7 * 86_400))
    }
}
