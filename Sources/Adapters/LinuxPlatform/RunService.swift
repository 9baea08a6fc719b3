import CLinux
import Glibc

/// Runs `service` while the main thread waits for SIGTERM or SIGINT.
///
/// A signal cancels the service, which winds up and returns the exit status; a second one ends the process at once.
/// Call it from a synchronous `main` before any thread exists: threads inherit the signal mask.
package func runService(_ service: @escaping @Sendable () async -> CInt) -> Never {
    signal(SIGPIPE, SIG_IGN)  // a closed pipe or socket is an error of write, not the end of the process
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGTERM, SIGINT] { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

    let running = Task { exit(await service()) }
    var received: CInt = 0
    var isEnding = false
    while true {
        unsafe sigwait(&signals, &received)
        if isEnding { _exit(128 + received) }
        isEnding = true
        running.cancel()
    }
}
