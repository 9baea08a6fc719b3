import GNSS
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

/// Tells when the host's clock and the receiver, or Fleet Engine, disagree, once a time they begin to; none is changed
/// by it.
package final class ClockComparison: ReportingObserver {
    private let log: LogWriter
    private let systemTime: @Sendable () -> UTCTime
    private let isSynchronized: @Sendable () -> Bool
    /// Who disagrees with the host's clock.
    private let dissenters = Locked<Set<String>>([])

    /// More than delivery, from a receiver over a slow serial line or from a server, explains.
    private static let tolerance = Duration.seconds(30)
    private static let receiver = "the receiver"

    /// `isSynchronized`: whether something keeps the host's clock right.
    package init(
        log: LogWriter, systemTime: @escaping @Sendable () -> UTCTime, isSynchronized: @escaping @Sendable () -> Bool
    ) {
        (self.log, self.systemTime, self.isSynchronized) = (log, systemTime, isSynchronized)
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .fix(let fix): compare(with: fix.timeOfFix, of: Self.receiver)
        case .serverTime(let time): compare(with: time, of: "Fleet Engine")
        default: break
        }
    }

    private func compare(with time: UTCTime, of witness: String) {
        let system = systemTime()
        let difference = time.duration(to: system)
        let isWrong = difference > Self.tolerance || difference < .zero - Self.tolerance
        let isNew = dissenters.withLock { dissenters in
            isWrong ? dissenters.insert(witness).inserted : dissenters.remove(witness) != nil
        }
        guard isNew else { return }
        if isWrong, witness == Self.receiver, isSynchronized() {
            log.write(
                .warning,
                "the receiver says \(time), and the host's clock, which is synchronized, \(system); updates carry the "
                    + "receiver's time: switch it off and on, and if that does not help, replace its firmware or itself"
            )
        } else if isWrong {
            log.write(
                .warning,
                "the host's clock says \(system), \(witness) \(time); updates carry the receiver's time; if the host's is wrong, "
                    + "TLS may fail: set it (NTP, or a real-time clock)")
        } else {
            log.write(.info, "the host's clock agrees with \(witness) again")
        }
    }
}
