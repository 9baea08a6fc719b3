#pragma once
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// Functions that glibc declares only if _GNU_SOURCE or _XOPEN_SOURCE is defined. Each release declares a few more of
// them unconditionally (addclosefrom_np: not in 2.36, but in 2.41), and Swift would find two declarations. Names with
// our own prefix can't conflict.
int clinux_set_thread_name(pthread_t thread, const char *_Nonnull name) __asm__("pthread_setname_np");
int clinux_open_terminal(int flags) __asm__("posix_openpt");
int clinux_grant_terminal(int descriptor) __asm__("grantpt");
int clinux_unlock_terminal(int descriptor) __asm__("unlockpt");
int clinux_terminal_name(int descriptor, char *_Nonnull buffer, unsigned long size) __asm__("ptsname_r");
// `actions` has a type of Swift's Glibc module.
int clinux_close_from(void *_Nonnull actions, int first) __asm__("posix_spawn_file_actions_addclosefrom_np");

// ioctl is variadic, so Swift can't call it.
static inline int clinux_set_exclusive(int descriptor) { return ioctl(descriptor, TIOCEXCL); }
static inline int clinux_clear_exclusive(int descriptor) { return ioctl(descriptor, TIOCNXCL); }
// Returns 1 if a process has opened the terminal for exclusive use, 0 if none has, and -1 on failure.
static inline int clinux_is_exclusive(int descriptor) {
    int exclusive = 0;
    return ioctl(descriptor, TIOCGEXCL, &exclusive) == 0 ? exclusive != 0 : -1;
}
// Gets the size of a terminal; 0 if it is unknown. Returns -1 on failure.
static inline int clinux_window_size(int descriptor, int *_Nonnull columns, int *_Nonnull rows) {
    struct winsize size = {0};
    int result = ioctl(descriptor, TIOCGWINSZ, &size);
    *columns = size.ws_col;
    *rows = size.ws_row;
    return result;
}
// The numbers of a device, which are macros in C.
static inline unsigned int clinux_major(dev_t device) { return major(device); }
static inline unsigned int clinux_minor(dev_t device) { return minor(device); }
// open and fcntl are variadic. Swift's Glibc module covers the usual forms, and these functions cover the others.
static inline int clinux_open_create(const char *_Nonnull path, int flags, unsigned int mode) {
    return open(path, flags, mode);
}
// Locks the file itself, whichever of its names was used to open it. The lock belongs to the open file, so closing
// other descriptors doesn't release it. The locked byte is far beyond the bytes that other programs read, write or
// lock.
static inline int clinux_own_file(int descriptor) {
    const int set_lock = 37;  // F_OFD_SETLK, which glibc shows to sources that define _GNU_SOURCE
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1};
    return fcntl(descriptor, set_lock, &lock);
}
// Returns the type of the file system that contains `path` (statfs(2)); -1 on failure. Swift's Glibc module doesn't
// export the structure.
static inline long clinux_file_system(const char *_Nonnull path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (long)(unsigned int)status.f_type : -1;
}
// The resource's type depends on _GNU_SOURCE.
static inline int clinux_forbid_core_files(void) {
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none);
}
// Whether the signal is ignored, for example because nohup started the program. SIG_IGN is a cast macro.
static inline int clinux_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, (void *)0, &action) == 0 && action.sa_handler == SIG_IGN;
}
// glibc has no wrapper before 2.36.
static inline int clinux_pidfd_open(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }
// glibc has no wrapper before 2.36.
static inline int clinux_pidfd_send_signal(int process, int number) {
    return (int)syscall(SYS_pidfd_send_signal, process, number, (void *)0, 0);
}
// Sets the groups of only the calling thread, unlike glibc's setgroups. Returns -1 on failure.
static inline int clinux_set_thread_groups(int count, const gid_t *_Nullable groups) {
    return (int)syscall(SYS_setgroups, count, groups);
}
// Sets the file-system ids of the calling thread. Returns whether they are in force. setfsuid(2) doesn't report
// failure, but a call with an invalid id returns the current one.
static inline int clinux_set_thread_file_rights(uid_t user, gid_t group) {
    setfsgid(group);
    setfsuid(user);
    return setfsgid((gid_t)-1) == (int)group && setfsuid((uid_t)-1) == (int)user;
}
// prctl is variadic.
static inline int clinux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L); }
// Returns a child that has ended but hasn't been reaped; 0 if there is none. siginfo_t contains a union.
static inline int clinux_ended_child(void) {
    siginfo_t child = {0};
    return waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0 ? child.si_pid : 0;
}
// environ is a global variable, which Swift doesn't let threads share.
extern char **environ;
static inline char *_Nullable *_Nullable clinux_environment(void) { return environ; }
// The resource's type depends on _GNU_SOURCE.
static inline int clinux_memory_is_limited(void) {
    struct rlimit space, data;
    return getrlimit(RLIMIT_AS, &space) == 0 && getrlimit(RLIMIT_DATA, &data) == 0 &&
           (space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
}
static inline long clinux_descriptor_limit(void) {
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 1 << 20 ? (long)files.rlim_cur : 1 << 20;
}
// Raises the limit to `count`, or to the hard limit if that is lower. Returns the new limit.
static inline long clinux_raise_descriptor_limit(long count) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < (rlim_t)count) {
        files.rlim_cur = files.rlim_max < (rlim_t)count ? files.rlim_max : (rlim_t)count;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    return clinux_descriptor_limit();
}
// Returns the amount that this process has written to disks, in blocks of 512 bytes; -1 if it is unknown.
static inline long clinux_blocks_written(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_oublock : -1;
}
// Returns the limit on the user's processes; -1 if there is none.
static inline long clinux_process_limit(void) {
    struct rlimit processes;
    return getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur < 1 << 30 ? (long)processes.rlim_cur : -1;
}
static void *_Nullable clinux_take_turn(void *_Nonnull turn) {
    pthread_mutex_lock((pthread_mutex_t *)turn);
    pthread_mutex_unlock((pthread_mutex_t *)turn);
    return (void *)0;
}
// Starts up to `count` threads at the same time, at most 64, and waits for them to end. Returns the number that could
// be started. Sets `reason` to the error that prevented the next one.
static inline int clinux_startable_threads(int count, int *_Nonnull reason) {
    pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[64];
    int started = 0;
    pthread_mutex_lock(&turn);
    while (started < count && started < 64 &&
           (*reason = pthread_create(&threads[started], (void *)0, clinux_take_turn, &turn)) == 0) {
        started++;
    }
    pthread_mutex_unlock(&turn);
    for (int i = 0; i < started; i++) pthread_join(threads[i], (void *)0);
    return started;
}
static inline void clinux_use_one_arena(void) { mallopt(M_ARENA_MAX, 1); }
// Returns the stack size of a thread that is created without one.
static inline long clinux_default_stack_size(void) {
    pthread_attr_t attributes;
    size_t size = 8 << 20;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
    }
    return (long)size;
}
// Whether the given number of bytes of private memory can be mapped. The memory isn't touched. MAP_FAILED is a cast
// macro.
static inline int clinux_can_map(long bytes) {
    void *start = mmap((void *)0, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start != MAP_FAILED && munmap(start, (size_t)bytes) == 0;
}
// Creates a pipe whose ends are closed on exec. Only the reading end, which this process uses, is non-blocking. pipe2
// needs _GNU_SOURCE.
static inline int clinux_pipe(int *_Nonnull ends) {
    if (syscall(SYS_pipe2, ends, O_CLOEXEC) < 0) return -1;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}
// Creates a file in memory that is closed on exec. A kernel may require that such a file is never executable
// (vm.memfd_noexec). Kernels before 6.3 don't know the flag.
static inline int clinux_memory_file(const char *_Nonnull name) {
    const unsigned close_on_exec = 1, never_executable = 8;
    int file = (int)syscall(SYS_memfd_create, name, close_on_exec | never_executable);
    return file < 0 && errno == EINVAL ? (int)syscall(SYS_memfd_create, name, close_on_exec) : file;
}
// Creates a timer that becomes readable at the given interval. In Swift its structures would conflict with those of the
// Glibc module.
static inline int clinux_ticker(long milliseconds) {
    const struct timespec interval = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    const struct itimerspec times = {interval, interval};
    int descriptor = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (descriptor < 0 || timerfd_settime(descriptor, 0, &times, 0) == 0) return descriptor;
    close(descriptor);
    return -1;
}
// glibc doesn't declare accept4 here, and <sys/socket.h> must stay in Swift's Glibc module. The kernel defines
// SOCK_NONBLOCK and SOCK_CLOEXEC as O_NONBLOCK and O_CLOEXEC.
static inline int clinux_accept(int listening) {
    return (int)syscall(SYS_accept4, listening, (void *)0, (void *)0, O_NONBLOCK | O_CLOEXEC);
}

// Opens a socket on which the kernel announces changes to links, addresses and routes (rtnetlink(7)). Returns -1 with
// errno on failure. <sys/socket.h> must stay in Swift's Glibc module.
static inline int clinux_open_route_announcements(void) {
    int netlink = (int)syscall(SYS_socket, 16 /* AF_NETLINK */, 3 /* SOCK_RAW */ | O_NONBLOCK | O_CLOEXEC, NETLINK_ROUTE);
    if (netlink < 0) return -1;
    struct sockaddr_nl self = {.nl_family = 16,
                               .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE |
                                            RTMGRP_IPV6_ROUTE};
    if (syscall(SYS_bind, netlink, &self, sizeof self) == 0) return netlink;
    int reason = errno;
    close(netlink);
    errno = reason;
    return -1;
}

// dl_iterate_phdr and its structure, whose layout is part of the ABI, also need _GNU_SOURCE.
struct clinux_loaded_object {
    ElfW(Addr) address;
    const char *_Nonnull name;
    const ElfW(Phdr) *_Nonnull headers;
    ElfW(Half) header_count;
};
int clinux_visit_loaded_objects(
    int (*_Nonnull body)(struct clinux_loaded_object *_Nonnull, size_t, void *_Nullable), void *_Nullable context)
    __asm__("dl_iterate_phdr");

// Releases the memory of code and constants: read-only mappings are unchanged, so the kernel reads them from the file
// again when they are needed.
static int clinux_forget_code_of(struct clinux_loaded_object *_Nonnull object, size_t size, void *_Nullable context) {
    const unsigned long page = (unsigned long)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->header_count; i++) {
        const ElfW(Phdr) *header = &object->headers[i];
        if (header->p_type != PT_LOAD || (header->p_flags & PF_W) != 0) continue;
        unsigned long start = (object->address + header->p_vaddr + page - 1) / page * page;
        unsigned long end = (object->address + header->p_vaddr + header->p_filesz) / page * page;
        if (object->address != 0 && end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}
static inline void clinux_forget_code(void) { clinux_visit_loaded_objects(clinux_forget_code_of, (void *)0); }
