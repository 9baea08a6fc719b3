import CLinux
import Glibc
package import TimeAndChance

/// Monotonic time: counted from the start of the machine, sleep included (`CLOCK_BOOTTIME`).
///
/// Sleep counts, so that a line that was quiet while the machine slept is known to have been quiet.
package enum MonotonicTime {
    /// Time since the machine started.
    package static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension UTCTime {
    /// As the host says: asked, compared and reported, never silently trusted.
    package static var system: UTCTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UTCTime(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The same while the kernel knows that something (NTP, a reference clock) keeps its clock right (adjtimex(2)),
    /// else `nil`.
    package static var synchronizedSystem: UTCTime? {
        var state = timex()
        let result = unsafe adjtimex(&state)
        return result >= 0 && result != TIME_ERROR && state.status & STA_UNSYNC == 0 ? system : nil
    }
}
