import CLinux
import Glibc

/// The result of a service, or of any other command.
package enum ServiceEnding: Sendable {
    case exit(CInt)
    /// A signal ended the command before it was finished.
    case interrupted
    /// The command ends by executing the program again in this process.
    case execute(NextImage)
}

/// The requests to reload the configuration, sent by the thread that waits for signals. While one request is carried
/// out, at most one other is kept. A request that is still pending is passed on to the next image.
package final class ReloadRequests: Sendable {
    private let isPending = Locked(false)
    /// A stream that yields once per request, or once for several requests that arrive while one is carried out.
    package let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    /// Whether this process ignores SIGHUP, the request to reload, because its parent did.
    package static var areIgnored: Bool { clinux_is_ignored(SIGHUP) != 0 }

    package init() { (arrivals, arrival) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    package func request() {
        isPending.withLock { $0 = true }
        arrival.yield()
    }

    /// Clears the pending request. Returns whether there was one.
    package func takeRequest() -> Bool { isPending.withLock { exchange(&$0, with: false) } }
}

/// Runs `service` while the main thread waits for SIGTERM, SIGINT and SIGHUP. SIGHUP means that the terminal has gone;
/// it isn't awaited if `nohup` made the process ignore it.
///
/// If `reloads` is given, SIGHUP is a request to reload, unless the service has lost its terminal. In that case SIGHUP
/// still ends the service.
///
/// A signal cancels the service, which then shuts down and returns its ending. If the service was interrupted, the exit
/// status is 128 plus the signal's number, as in shells. A second signal ends the process at once. So does the time
/// limit if the shutdown hangs.
///
/// Call it from a synchronous `main` before any thread exists, because threads inherit the main thread's signal mask.
package func runService(
    reloads: ReloadRequests? = nil, _ service: @escaping @Sendable () async -> ServiceEnding
) -> Never {
    // A core file would contain tokens and keys. If a sandbox forbids this call, LimitCORE=0 in the unit has already
    // had the same effect.
    _ = clinux_forbid_core_files()
    signal(SIGPIPE, SIG_IGN)  // so that writing to a closed pipe or socket fails instead of ending the process
    var signals = awaitedSignals()
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

    let hadTerminal = hasTerminal
    let interruption = Locked<CInt>(0)
    let next = Locked<NextImage?>(nil)
    let running = Task {
        let ending = await service()
        await StandardError.finish()
        // If there is no room for another thread, use this one. Blocking it does no harm, because nothing needs the
        // pool any longer.
        if case .failure = await onThreadIfPossible(named: "last-children", { ChildTable.endAll() }) {
            ChildTable.endAll()
        }
        switch ending {
        case .exit(let status): exit(status)
        case .interrupted: exit(128 + interruption.withLock { $0 })
        case .execute(let image):
            next.withLock { $0 = image }
            kill(getpid(), wakingSignal)
        }
    }
    var first: CInt = 0
    var isStopRequested = false
    while !isStopRequested {
        unsafe sigwait(&signals, &first)
        if let image = next.withLock({ $0 }) {
            if first != wakingSignal { kill(getpid(), first) }
            execute(image, passing: reloads)
        }
        switch first {
        case SIGCHLD: ChildTable.reapOrphans()
        case wakingSignal: break
        case SIGHUP where reloads != nil && (!hadTerminal || hasTerminal): reloads?.request()
        default: isStopRequested = true
        }
    }
    interruption.withLock { [first] in $0 = first }
    running.cancel()
    waitForStop(signals, first: first, ignoresHangup: reloads != nil) {
        guard let image = next.withLock({ $0 }) else { return }
        // The next image receives the signal again, shuts down, and sends the final state to Fleet Engine.
        kill(getpid(), first)
        execute(image, passing: reloads)
    }
}

/// Returns the signals that the main thread waits for.
private func awaitedSignals() -> sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    // The signals are added one by one, because an array literal would stay unfilled. Swift 6.2.3 drops the stores that
    // fill it in a function that never returns.
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, wakingSignal)
    if !ReloadRequests.areIgnored { unsafe sigaddset(&signals, SIGHUP) }
    if getpid() == 1 { unsafe sigaddset(&signals, SIGCHLD) }
    return signals
}

/// The signal that wakes the main thread. SIGURG is ignored by default, and one that another process sends has no
/// effect.
private let wakingSignal = SIGURG

/// Executes `image` on the main thread, the only one that accepts signals. Signals that arrive from now on stay pending
/// until the next image receives them. A pending request to reload is passed on as SIGHUP.
private func execute(_ image: NextImage, passing reloads: ReloadRequests?) -> Never {
    if reloads?.takeRequest() == true { kill(getpid(), SIGHUP) }
    ChildTable.reapAll()
    FatalExit.exit("\(image.execute()); the service manager starts the service again", status: 1)
}

/// Waits until the shutdown ends the process. Ends the process itself at another signal or at the time limit. Calls
/// `wake` at each `wakingSignal`.
private func waitForStop(
    _ awaited: sigset_t, first: CInt, ignoresHangup: Bool, wake: () -> Void
) -> Never {
    var signals = awaited
    let endingSince = MonotonicTime.now
    while true {
        let left = stopTimeout - (MonotonicTime.now - endingSince)
        guard left > .zero else { break }
        var timeout = timespec(left)
        let received = unsafe sigtimedwait(&signals, nil, &timeout)
        switch received {
        case SIGCHLD: ChildTable.reapOrphans()
        case wakingSignal: wake()
        case SIGHUP where ignoresHangup: break
        // A supervisor may signal the process and then its whole group. So signals in quick succession count as one
        // request.
        case 1... where MonotonicTime.now - endingSince > signalGrouping:
            ChildTable.endAll()
            _exit(128 + received)
        default: break
        }
    }
    StandardError.write(Array("waypost: the shutdown took longer than \(stopTimeout) and was aborted\n".utf8))
    StandardError.flush(within: .milliseconds(250))
    ChildTable.endAll()
    _exit(128 + first)
}

/// Whether the process has a controlling terminal. A terminal that hangs up is detached before SIGHUP arrives, so this
/// is then `false`.
private var hasTerminal: Bool {
    do throws(SystemError) {
        _ = try OwnedDescriptor(opening: "/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK)
        return true
    } catch { return false }
}

/// The time from the first signal until the process is forced to end. It is less than the 10 s that a service manager
/// waits.
private let stopTimeout = Duration.milliseconds(9500)

/// The time within which further signals count as part of the first request.
private let signalGrouping = Duration.milliseconds(100)

extension timespec {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    }
}

/// The exit of a process that can't do its work, with a last message.
enum FatalExit {
    /// Writes a one-line message and ends the process, by default with status 69 (service unavailable). Updates that
    /// the outbox has stored aren't lost.
    static func exit(_ message: String, status: CInt = 69) -> Never {
        let line = Array("waypost: \(message)\n".utf8)
        _ = unsafe write(STDERR_FILENO, line, line.count)
        ChildTable.endAll()
        _exit(status)
    }
}
