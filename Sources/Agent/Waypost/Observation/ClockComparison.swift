package import GNSS
import LinuxPlatform
package import LocationReporting

/// Tells when the host's clock and the receiver, or Fleet Engine, disagree, once a time they begin to; none is changed
/// by it.
package final class ClockComparison: ReportingObserver {
    private let log: LogWriter
    private let systemTime: @Sendable () -> UTCTime
    /// Who disagrees with the host's clock.
    private let dissenters = Locked<Set<String>>([])

    /// More than delivery, from a receiver over a slow serial line or from a server, explains.
    private static let tolerance = Duration.seconds(30)

    package init(log: LogWriter, systemTime: @escaping @Sendable () -> UTCTime) {
        (self.log, self.systemTime) = (log, systemTime)
    }

    package func observe(_ event: ReportingEvent) {
        switch event {
        case .fix(let fix): compare(with: fix.timeOfFix, of: "the receiver")
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
        if isWrong {
            log.write(
                .warning,
                "the host's clock says \(system), \(witness) \(time); updates carry the receiver's time, but TLS may fail: "
                    + "set the clock (NTP, or a real-time clock)")
        } else {
            log.write(.info, "the host's clock agrees with \(witness) again")
        }
    }
}
