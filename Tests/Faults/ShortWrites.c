// Loaded before the C library. The write to a file or pipe that is number $SHORT_WRITE, counted from 1 over all threads,
// writes only half of its bytes, as it would if the disk or the pipe were nearly full.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Appends a line to the file $SHORT_WRITE_TRACE with a system call, so that it isn't counted as a write of the program.
static void note(void) {
    static const char words[] = "write (INJECTED)\n";
    const char *path = getenv("SHORT_WRITE_TRACE");
    int trace = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (trace < 0) return;
    syscall(SYS_write, trace, words, sizeof words - 1);
    close(trace);
}

static size_t shortened(int descriptor, size_t count) {
    static atomic_long calls;
    struct stat status;
    if (count < 2 || fstat(descriptor, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode)))
        return count;
    const char *number = getenv("SHORT_WRITE");
    if (number == NULL || atomic_fetch_add(&calls, 1) + 1 != atol(number)) return count;
    note();
    return count / 2;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    static ssize_t (*next)(int, const void *, size_t);
    if (next == NULL) next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return next(descriptor, bytes, shortened(descriptor, count));
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    static ssize_t (*next)(int, const void *, size_t, off64_t);
    if (next == NULL) next = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return next(descriptor, bytes, shortened(descriptor, count), offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite64(descriptor, bytes, count, offset);
}
