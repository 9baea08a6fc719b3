import LinuxPlatform
package import Reporting
package import TimeAndChance

/// Estimates the present to within years, which is enough to resolve a receiver's ambiguous week number.
///
/// Fleet Engine's clock comes first, then a synchronized host clock, then the later of the release and the last good
/// time of fix. An unsynchronized host clock isn't used, nor a server's clock long before the release or decades after
/// it.
package final class ApproximatePresent: ReportingObserver {
    private struct Witnesses {
        var lastGood: UTCTime
        var server: UTCTime?
    }

    /// The time in which a release may be used, relative to its date.
    private static let useOfRelease = Duration.seconds(-365 * 86_400)...Duration.seconds(25 * 365 * 86_400)

    private let release: UTCTime
    private let witnesses: Locked<Witnesses>
    private let synchronizedClock: @Sendable () -> UTCTime?

    /// `synchronizedClock` returns the host's time while it is synchronized, otherwise `nil`.
    package init(release: UTCTime, synchronizedClock: @escaping @Sendable () -> UTCTime?) {
        self.release = release
        witnesses = Locked(Witnesses(lastGood: release))
        self.synchronizedClock = synchronizedClock
    }

    package var time: UTCTime {
        let witnesses = witnesses.withLock { $0 }
        return witnesses.server ?? synchronizedClock() ?? witnesses.lastGood
    }

    /// Notes a time of fix that was accepted, which the outbox keeps over a restart.
    package func note(lastGood time: UTCTime) {
        witnesses.withLock { $0.lastGood = max($0.lastGood, time) }
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .serverTime(let time) where Self.useOfRelease ~= release.duration(to: time):
            witnesses.withLock { $0.server = time }
        case .accepted(let stored): note(lastGood: stored.update.timeOfFix)
        default: break
        }
    }
}
