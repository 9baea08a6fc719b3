import LinuxPlatform
package import Reporting
package import TimeAndChance

/// Estimates the present to within years, which is enough to resolve a receiver's ambiguous week number.
///
/// Fleet Engine's clock comes first, then a synchronized host clock, then the release date or the last good time of
/// fix, whichever is later. An unsynchronized host clock isn't used, nor is a server's clock that is long before the
/// release or decades after it.
package final class ApproximatePresent: ReportingObserver {
    private struct Sources {
        var lastGood: UTCTime
        var server: UTCTime?
    }

    /// The times at which a release may be in use, relative to its date.
    private static let useOfRelease = Duration.seconds(-365 * 86_400)...Duration.seconds(25 * 365 * 86_400)

    private let release: UTCTime
    private let sources: Locked<Sources>
    private let synchronizedClock: @Sendable () -> UTCTime?

    /// Creates an estimate. `synchronizedClock` returns the host's time while it is synchronized, otherwise `nil`.
    package init(release: UTCTime, synchronizedClock: @escaping @Sendable () -> UTCTime?) {
        self.release = release
        sources = Locked(Sources(lastGood: release))
        self.synchronizedClock = synchronizedClock
    }

    package var time: UTCTime {
        let sources = sources.withLock { $0 }
        return sources.server ?? synchronizedClock() ?? sources.lastGood
    }

    /// Records an accepted time of fix, which the outbox keeps across restarts.
    package func note(lastGood time: UTCTime) {
        sources.withLock { $0.lastGood = max($0.lastGood, time) }
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .serverTime(let time) where Self.useOfRelease ~= release.duration(to: time):
            sources.withLock { $0.server = time }
        case .accepted(let stored): note(lastGood: stored.update.timeOfFix)
        default: break
        }
    }
}
