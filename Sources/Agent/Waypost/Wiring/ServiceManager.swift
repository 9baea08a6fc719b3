import LinuxPlatform
import Operations

/// Sends messages to the service manager. Messages that it couldn't receive are sent again with the next one.
final class ServiceManager: Sendable {
    private struct State {
        /// The assignments that haven't been received. Only the last one of each variable is kept.
        var unsent: [String] = []
        /// Whether a failure has been logged. It is logged once until a message is received.
        var isUnresponsive = false
    }

    private let notifier: ServiceNotifier
    private let log: LogWriter
    private let state = Locked(State())

    /// The interval at which the watchdog is fed: at most half the watchdog's limit.
    let feedInterval: Duration

    init(_ notifier: ServiceNotifier, feedInterval: Duration = .seconds(10), log: LogWriter) {
        self.notifier = notifier
        self.feedInterval = feedInterval
        self.log = log
    }

    /// Creates the service manager that the variables in this process's `environment` name. Without them, nothing is
    /// sent.
    convenience init(_ environment: [String: String], log: LogWriter) {
        let limit = environment["WATCHDOG_USEC"].flatMap(Int64.init).map(Duration.microseconds) ?? .seconds(20)
        self.init(
            ServiceNotifier(socketPath: environment["NOTIFY_SOCKET"]),
            feedInterval: min(limit / 2, .seconds(10)), log: log)
    }

    /// Sends `assignments`, such as `["READY=1", "STATUS=receiving"]`, and earlier ones that haven't been received.
    func send(_ assignments: [String]) {
        let unsent = state.withLock { exchange(&$0.unsent, with: []) }
        let all = Self.latest(of: unsent + assignments)
        do throws(SystemError) {
            try notifier.send(all)
            let wasUnresponsive = state.withLock { exchange(&$0.isUnresponsive, with: false) }
            if wasUnresponsive { log.write(.info, "service manager receives messages again") }
        } catch {
            let wasUnresponsive = state.withLock { state in
                state.unsent = Self.latest(of: all + state.unsent)
                return exchange(&state.isUnresponsive, with: true)
            }
            if !wasUnresponsive { log.write(.warning, "service manager unreachable: \(error)") }
        }
    }

    private static func latest(of assignments: [String]) -> [String] {
        // A reload begins with RELOADING and ends with READY, so the last of the two applies.
        func variable(_ assignment: String) -> Substring {
            assignment == "RELOADING=1" ? "READY" : assignment.prefix { $0 != "=" }
        }
        return assignments.indices.filter { index in
            !assignments[(index + 1)...].contains { variable($0) == variable(assignments[index]) }
        }.map { assignments[$0] }
    }
}
