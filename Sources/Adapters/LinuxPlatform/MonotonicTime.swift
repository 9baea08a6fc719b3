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
