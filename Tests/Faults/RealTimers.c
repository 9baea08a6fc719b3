// Loaded before libfaketime, which shifts a timer's absolute time by the error of the clock. It does so even for timers
// of the monotonic clock, which has no error: such a timer would expire in 56 years.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int timer, int flags, const struct itimerspec *time, struct itimerspec *previous) {
    return (int)syscall(SYS_timerfd_settime, timer, flags, time, previous);
}
