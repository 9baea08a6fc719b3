import CLinux
import Glibc

/// How a service, or any other command, ends.
package enum ServiceEnding: Sendable {
    case exit(CInt)
    /// A signal ended it before it was done.
    case interrupted
    /// The program is executed again in this process.
    case execute(NextImage)
}

/// Requests to read the configuration again, from the thread that waits for signals. One is kept while another is
/// carried out; one that nobody has taken is passed to the next image.
package final class ReloadRequests: Sendable {
    private let isPending = Locked(false)
    /// Yields after each request.
    package let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    package init() { (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    package func request() {
        isPending.withLock { $0 = true }
        arrival.yield()
    }

    /// Takes the pending request. Returns whether there was one.
    package func take() -> Bool { isPending.withLock { exchange(&$0, with: false) } }
}

/// Runs `service` while the main thread waits for SIGTERM, SIGINT, or SIGHUP, which says that its terminal is gone,
/// unless `nohup` makes it ignore that.
///
/// With `reloads`, SIGHUP is a request to reload; if there was a terminal that is gone now, SIGHUP still ends the
/// service.
///
/// A signal cancels the service, which shuts down and returns how it ended. If it was interrupted, the status is 128
/// and the signal's number, as shells have it. Another signal ends the process at once, and so does the time limit of a
/// stop, if something hangs.
///
/// Call it from a synchronous `main` before any thread exists: threads inherit the signal mask.
package func runService(
    reloads: ReloadRequests? = nil, _ service: @escaping @Sendable () async -> ServiceEnding
) -> Never {
    // A core file would hold tokens and keys. If a sandbox forbids the call, the unit's LimitCORE=0 has done it.
    _ = clinux_forbid_core_files()
    signal(SIGPIPE, SIG_IGN)  // a closed pipe or socket is an error of write, not the end of the process
    var signals = awaitedSignals()
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

    let hadTerminal = hasTerminal
    let interruption = Locked<CInt>(0)
    let next = Locked<NextImage?>(nil)
    let running = Task {
        let ending = await service()
        await StandardError.lastWords()
        // Without a thread on this one: nothing waits for the pool any more.
        if case .failure = await onThreadIfAny(named: "last-children", { ChildTable.endAll() }) { ChildTable.endAll() }
        switch ending {
        case .exit(let status): exit(status)
        case .interrupted: exit(128 + interruption.withLock { $0 })
        case .execute(let image):
            next.withLock { $0 = image }
            kill(getpid(), wakingSignal)
        }
    }
    var first: CInt = 0
    var isObeyed = false
    while !isObeyed {
        unsafe sigwait(&signals, &first)
        if let image = next.withLock({ $0 }) {
            if first != wakingSignal { kill(getpid(), first) }
            execute(image, passing: reloads)
        }
        switch first {
        case SIGCHLD: ChildTable.collectOrphans()
        case wakingSignal: break
        case SIGHUP where reloads != nil && (!hadTerminal || hasTerminal): reloads?.request()
        default: isObeyed = true
        }
    }
    interruption.withLock { [first] in $0 = first }
    running.cancel()
    waitForStop(signals, first: first, ignoresHangup: reloads != nil) {
        guard let image = next.withLock({ $0 }) else { return }
        // The next image is told to stop, and tells Fleet Engine.
        kill(getpid(), first)
        execute(image, passing: reloads)
    }
}

/// The signals that the main thread waits for.
private func awaitedSignals() -> sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    // One by one: in a function that never returns, Swift 6.2.3 drops the stores that fill an array literal.
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, wakingSignal)
    if clinux_is_ignored(SIGHUP) == 0 { unsafe sigaddset(&signals, SIGHUP) }
    if getpid() == 1 { unsafe sigaddset(&signals, SIGCHLD) }
    return signals
}

/// Wakes the main thread. It is ignored by default, so that one from outside does nothing.
private let wakingSignal = SIGURG

/// Executes `image`, on the main thread, which alone takes signals. Those that come from now on stay pending, because
/// they are blocked, and reach the next image; so does a request to reload that nobody has taken.
private func execute(_ image: NextImage, passing reloads: ReloadRequests?) -> Never {
    if reloads?.take() == true { kill(getpid(), SIGHUP) }
    ChildTable.collectAll()
    LastLine.end("\(image.execute()); the service manager starts the service again", status: 1)
}

/// Waits until the process has ended, and ends it at another signal or at the time limit; `wake` is called at each
/// `wakingSignal`.
private func waitForStop(
    _ awaited: sigset_t, first: CInt, ignoresHangup: Bool, wake: () -> Void
) -> Never {
    var signals = awaited
    let endingSince = MonotonicTime.now
    while true {
        let left = patience - (MonotonicTime.now - endingSince)
        guard left > .zero else { break }
        var timeout = timespec(left)
        let received = unsafe sigtimedwait(&signals, nil, &timeout)
        switch received {
        case SIGCHLD: ChildTable.collectOrphans()
        case wakingSignal: wake()
        case SIGHUP where ignoresHangup: break
        // Supervisors signal the process and then its group: what comes at once is the same wish.
        case 1... where MonotonicTime.now - endingSince > signalGrouping:
            ChildTable.endAll()
            _exit(128 + received)
        default: break
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

/// The end of a process that cannot do its work.
enum LastLine {
    /// Says why in one line and ends the process, unless stated otherwise with status 69, service unavailable; nothing
    /// accepted is lost by that.
    static func end(_ words: String, status: CInt = 69) -> Never {
        let line = Array("waypost: \(words)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        ChildTable.endAll()
        _exit(status)
    }
}
