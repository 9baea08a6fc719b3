// Loaded in front of libfaketime, which moves a timer's absolute time by what the clock is wrong, also where the timer
// is of the monotonic clock, which is right: it would ring in 56 years.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int timer, int flags, const struct itimerspec *time, struct itimerspec *former) {
    return (int)syscall(SYS_timerfd_settime, timer, flags, time, former);
}
