import CLinux
import Glibc

/// Time that no one sets: counted from the start of the machine, sleep included (`CLOCK_BOOTTIME`).
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

/// The host's clock: asked, compared and reported, never silently trusted.
package enum SystemClock {
    /// Milliseconds since 1970 UTC, as the host believes.
    package static var millisecondsSince1970: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Whether the kernel knows that something (NTP, a reference clock) keeps its clock right (adjtimex(2)).
    package static var isSynchronized: Bool {
        var state = timex()
        let result = unsafe adjtimex(&state)
        return result >= 0 && result != TIME_ERROR && state.status & STA_UNSYNC == 0
    }
}
