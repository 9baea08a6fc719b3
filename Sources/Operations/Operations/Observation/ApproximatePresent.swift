import LinuxPlatform
package import Reporting
package import TimeAndChance

/// The present to within years, by the best witness there is: what a receiver's ambiguous week number is dated by.
///
/// Fleet Engine's own clock comes first, then a host's clock that something keeps right, then the later of the release
/// and the last good time of fix. A host's clock that nothing keeps right is no witness, nor is a server whose clock
/// lies far before the release or decades after it.
package final class ApproximatePresent: ReportingObserver {
    private struct Witnesses {
        var lastGood: UTCTime
        var server: UTCTime?
    }

    /// From the first trial of a release to its last use, seen from its date.
    private static let useOfRelease = Duration.seconds(-365 * 86_400)...Duration.seconds(25 * 365 * 86_400)

    private let release: UTCTime
    private let witnesses: Locked<Witnesses>
    private let synchronizedClock: @Sendable () -> UTCTime?

    /// `synchronizedClock` gives the host's time while something keeps that right, else `nil`.
    package init(release: UTCTime, synchronizedClock: @escaping @Sendable () -> UTCTime?) {
        self.release = release
        witnesses = Locked(Witnesses(lastGood: release))
        self.synchronizedClock = synchronizedClock
    }

    package var time: UTCTime {
        let witnesses = witnesses.withLock { $0 }
        return witnesses.server ?? synchronizedClock() ?? witnesses.lastGood
    }

    /// Notes a time of fix that was accepted, as the outbox keeps it over a restart.
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
