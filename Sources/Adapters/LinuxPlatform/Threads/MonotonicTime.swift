import CLinux
import Glibc
package import TimeAndChance

/// Monotonic time since the machine started, including suspend (`CLOCK_BOOTTIME`), so that a line's silence during
/// suspend is noticed afterwards.
package enum MonotonicTime {
    package static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension UTCTime {
    /// The time of the host's clock, which is compared and reported, but never trusted silently.
    package static var system: UTCTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UTCTime(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The time of the host's clock if, according to the kernel, NTP or a reference clock keeps it right (adjtimex(2));
    /// otherwise `nil`.
    package static var synchronizedSystem: UTCTime? {
        var state = timex()
        let result = unsafe adjtimex(&state)
        return result >= 0 && result != TIME_ERROR && state.status & STA_UNSYNC == 0 ? system : nil
    }
}
