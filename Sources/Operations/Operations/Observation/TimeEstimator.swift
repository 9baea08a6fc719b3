import LinuxPlatform
package import Reporting
package import TimeAndRandomness

/// An estimate of the current time, accurate to within years. This accuracy is enough to resolve a receiver's ambiguous
/// week number.
///
/// The estimate is Fleet Engine's time, if it is known. Otherwise, it is the host's time while the host's clock is
/// synchronised. Otherwise, it is the release date or the time of the last accepted fix, whichever is later.
///
/// A server's time is ignored if it is long before the release or decades after it, and an unsynchronised host clock is
/// never used.
package final class TimeEstimator: ReportingObserver {
    private struct Sources {
        var lastFixTime: UTCTime
        var server: UTCTime?
    }

    /// The period in which a release may be in use, relative to the release date.
    private static let periodOfUse = Duration.seconds(-365 * 86_400)...Duration.seconds(25 * 365 * 86_400)

    private let release: UTCTime
    private let sources: Locked<Sources>
    private let synchronizedClock: @Sendable () -> UTCTime?

    /// Creates an estimate. `synchronizedClock` returns the host's time while it is synchronised, otherwise `nil`.
    package init(release: UTCTime, synchronizedClock: @escaping @Sendable () -> UTCTime?) {
        self.release = release
        sources = Locked(Sources(lastFixTime: release))
        self.synchronizedClock = synchronizedClock
    }

    package var time: UTCTime {
        let sources = sources.withLock { $0 }
        return sources.server ?? synchronizedClock() ?? sources.lastFixTime
    }

    /// Records the time of an accepted fix. The outbox keeps that time across restarts.
    package func note(acceptedFixAt time: UTCTime) {
        sources.withLock { $0.lastFixTime = max($0.lastFixTime, time) }
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .serverTime(let time) where Self.periodOfUse ~= release.duration(to: time):
            sources.withLock { $0.server = time }
        case .accepted(let stored): note(acceptedFixAt: stored.update.timeOfFix)
        default: break
        }
    }
}
