package import GNSS
import LinuxPlatform
package import LocationReporting

/// Tells when the host's clock and the receiver disagree, once a time they begin to; neither is changed by it.
package final class ClockComparison: ReportingObserver {
    private let log: LogWriter
    private let systemTime: @Sendable () -> UTCTime
    private let disagrees = Locked(false)

    /// More than delivery from a receiver and a slow serial line explain.
    private static let tolerance = Duration.seconds(30)

    package init(log: LogWriter, systemTime: @escaping @Sendable () -> UTCTime) {
        (self.log, self.systemTime) = (log, systemTime)
    }

    package func observe(_ event: ReportingEvent) {
        guard case .fix(let fix) = event else { return }
        let system = systemTime()
        let difference = fix.timeOfFix.duration(to: system)
        let isWrong = difference > Self.tolerance || difference < .zero - Self.tolerance
        let isNew = disagrees.withLock { disagrees in
            defer { disagrees = isWrong }
            return disagrees != isWrong
        }
        guard isNew else { return }
        if isWrong {
            log.write(
                .warning,
                "the host's clock says \(system), the receiver \(fix.timeOfFix); updates carry the receiver's time, but "
                    + "TLS may fail: set the clock (NTP, or a real-time clock)")
        } else {
            log.write(.info, "the host's clock agrees with the receiver again")
        }
    }
}
