import CLinux
import Glibc

/// Runs `service` while the main thread waits for SIGTERM, SIGINT, or SIGHUP, which says
/// that its terminal is gone, unless `nohup` has told it not to care.
///
/// A signal cancels the service, which winds up and returns the exit status; another one ends the process at once.
/// Call it from a synchronous `main` before any thread exists: threads inherit the signal mask.
package func runService(_ service: @escaping @Sendable () async -> CInt) -> Never {
    // A core file would hold tokens and keys. Where a sandbox forbids the call, the unit's LimitCORE=0 has done it.
    _ = clinux_forbid_core_files()
    signal(SIGPIPE, SIG_IGN)  // a closed pipe or socket is an error of write, not the end of the process
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    let wishes = [SIGTERM, SIGINT] + (clinux_is_ignored(SIGHUP) == 0 ? [SIGHUP] : [])
    for number in wishes { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

    let running = Task { exit(await service()) }
    var received: CInt = 0
    var endingSince: Duration?
    while true {
        unsafe sigwait(&signals, &received)
        // Supervisors signal the process and then its group: what comes at once is the same wish.
        if let endingSince, MonotonicTime.now - endingSince > sameWish { _exit(128 + received) }
        endingSince = endingSince ?? MonotonicTime.now
        running.cancel()
    }
}

/// Signals that follow each other so closely are one wish.
private let sameWish = Duration.milliseconds(100)
