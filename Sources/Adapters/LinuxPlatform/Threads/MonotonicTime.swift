import CLinux
import Glibc
package import TimeAndRandomness

/// The clock that counts from the machine's start and never goes back. It includes the time for which the machine is
/// suspended (`CLOCK_BOOTTIME`), so the service notices afterwards that a receiver was silent in that time.
package enum MonotonicTime {
    package static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension UTCTime {
    /// The time of the host's clock, which may be wrong. The service compares it with other clocks, and reports a
    /// difference instead of trusting it silently.
    package static var system: UTCTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UTCTime(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The time of the host's clock, if the kernel reports that NTP or a reference clock keeps it correct
    /// (adjtimex(2)); otherwise `nil`.
    package static var synchronizedSystem: UTCTime? {
        var state = timex()
        let result = unsafe adjtimex(&state)
        return result >= 0 && result != TIME_ERROR && state.status & STA_UNSYNC == 0 ? system : nil
    }
}
