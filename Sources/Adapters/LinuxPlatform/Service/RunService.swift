import CLinux
import Glibc

/// Runs `service` while the main thread waits for SIGTERM, SIGINT, or SIGHUP, which says
/// that its terminal is gone, unless `nohup` makes it ignore that.
///
/// With `reload` SIGHUP goes there, and asks the service to read its configuration anew; but where there was a terminal
/// that is gone now, that is the end as ever.
///
/// A signal cancels the service, which shuts down and returns the exit status, or `nil` when it was not done yet: the
/// status is then 128 and the signal's number, as shells have it. Another signal ends the process at once, and so does
/// the time limit of a stop, should something hang.
/// Call it from a synchronous `main` before any thread exists: threads inherit the signal mask.
package func runService(
    reload: AsyncStream<Void>.Continuation? = nil, _ service: @escaping @Sendable () async -> CInt?
) -> Never {
    // A core file would hold tokens and keys. Where a sandbox forbids the call, the unit's LimitCORE=0 has done it.
    _ = clinux_forbid_core_files()
    signal(SIGPIPE, SIG_IGN)  // a closed pipe or socket is an error of write, not the end of the process
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    // One by one: in a function that never returns, Swift 6.2.3 drops the stores that fill an array literal.
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigaddset(&signals, SIGINT)
    if clinux_is_ignored(SIGHUP) == 0 { unsafe sigaddset(&signals, SIGHUP) }
    if getpid() == 1 { unsafe sigaddset(&signals, SIGCHLD) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

    let hadTerminal = hasTerminal
    let interruption = Locked<CInt>(0)
    let running = Task {
        let status = await service() ?? 128 + interruption.withLock { $0 }
        await StandardError.lastWords()
        // Without a thread on this one: nothing waits for the pool any more.
        if case .failure = await onThreadIfAny(named: "last-children", { ChildTable.endAll() }) { ChildTable.endAll() }
        exit(status)
    }
    var first: CInt = 0
    unsafe sigwait(&signals, &first)
    while true {
        if first == SIGCHLD {
            ChildTable.collectOrphans()
        } else if first == SIGHUP, let reload, !hadTerminal || hasTerminal {
            reload.yield()
        } else {
            break
        }
        unsafe sigwait(&signals, &first)
    }
    let endingSince = MonotonicTime.now
    interruption.withLock { [first] in $0 = first }
    running.cancel()
    while true {
        let left = patience - (MonotonicTime.now - endingSince)
        guard left > .zero else { break }
        var timeout = timespec(left)
        let received = unsafe sigtimedwait(&signals, nil, &timeout)
        if received == SIGCHLD {
            ChildTable.collectOrphans()
            continue
        }
        // Supervisors signal the process and then its group: what comes at once is the same wish.
        if received > 0, received != SIGHUP || reload == nil, MonotonicTime.now - endingSince > signalGrouping {
            ChildTable.endAll()
            _exit(128 + received)
        }
    }
    StandardError.write(Array("waypost: the stop took longer than \(patience) and was cut short\n".utf8))
    StandardError.flush(within: .milliseconds(250))
    ChildTable.endAll()
    _exit(128 + first)
}

/// Whether the process has a controlling terminal. One that hangs up is taken from all its processes before they hear
/// of it.
private var hasTerminal: Bool {
    do throws(SystemError) {
        _ = try OwnedDescriptor(opening: "/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK)
        return true
    } catch { return false }
}

/// From the first signal to the end, less than a service manager waits.
private let patience = Duration.milliseconds(9500)

/// Signals that follow each other so closely are one wish.
private let signalGrouping = Duration.milliseconds(100)

extension timespec {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    }
}

/// The end of a process that lacks what it needs to run.
enum LastLine {
    /// Says why in one line and ends the process with status 69, service unavailable; nothing accepted is lost by that.
    static func end(_ words: String) -> Never {
        let line = Array("waypost: \(words)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        ChildTable.endAll()
        _exit(69)
    }
}
