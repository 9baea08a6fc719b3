package import GNSS
import LinuxPlatform
package import LocationReporting

/// The present to within years, by the best witness there is: what a receiver's ambiguous week number is dated by.
///
/// Fleet Engine's own clock comes first, then a host's clock that something keeps right, then the later of the release
/// and the last good time of fix. A host's clock that nothing keeps right is no witness.
package final class ApproximatePresent: ReportingObserver {
    private struct Witnesses {
        var lastGood: UTCTime
        var server: UTCTime?
    }

    private let witnesses: Locked<Witnesses>
    private let synchronizedClock: @Sendable () -> UTCTime?

    /// `synchronizedClock` gives the host's time while something keeps that right, else `nil`.
    package init(release: UTCTime, synchronizedClock: @escaping @Sendable () -> UTCTime?) {
        witnesses = Locked(Witnesses(lastGood: release))
        self.synchronizedClock = synchronizedClock
    }

    package var time: UTCTime {
        let witnesses = witnesses.withLock { $0 }
        return witnesses.server ?? synchronizedClock() ?? witnesses.lastGood
    }

    /// Notes a time of fix that was believed, as the outbox keeps it over a restart.
    package func note(lastGood time: UTCTime) {
        witnesses.withLock { $0.lastGood = max($0.lastGood, time) }
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .serverTime(let time): witnesses.withLock { $0.server = time }
        case .accepted(let stored): note(lastGood: stored.update.timeOfFix)
        default: break
        }
    }
}
