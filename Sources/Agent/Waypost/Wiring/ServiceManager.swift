import LinuxPlatform
import Operations

/// Sends messages to the service manager. Those that it had no room for are sent again with the next message.
final class ServiceManager: Sendable {
    private struct State {
        /// Assignments that were not received, the last of each variable.
        var owed: [String] = []
        /// Whether the failure was logged; it is logged once until a message is received.
        var isUnresponsive = false
    }

    private let notification: ServiceNotification
    private let log: LogWriter
    private let state = Locked(State())

    /// The interval at which the watchdog is fed: at most half its limit.
    let feedInterval: Duration

    init(_ notification: ServiceNotification, feedInterval: Duration = .seconds(10), log: LogWriter) {
        self.notification = notification
        self.feedInterval = feedInterval
        self.log = log
    }

    /// The service manager that the variables of this process's `environment` name; without them nothing is sent.
    convenience init(_ environment: [String: String], log: LogWriter) {
        let limit = environment["WATCHDOG_USEC"].flatMap(Int64.init).map(Duration.microseconds) ?? .seconds(20)
        self.init(
            ServiceNotification(socketPath: environment["NOTIFY_SOCKET"]),
            feedInterval: min(limit / 2, .seconds(10)), log: log)
    }

    /// Sends `assignments`, such as `["READY=1", "STATUS=receiving"]`, and those that were not received.
    func tell(_ assignments: [String]) {
        let owed = state.withLock { exchange(&$0.owed, with: []) }
        let all = Self.latest(of: owed + assignments)
        do throws(SystemError) {
            try notification.send(all)
            let wasUnresponsive = state.withLock { exchange(&$0.isUnresponsive, with: false) }
            if wasUnresponsive { log.write(.info, "service manager receives messages again") }
        } catch {
            let wasUnresponsive = state.withLock { state in
                state.owed = Self.latest(of: all + state.owed)
                return exchange(&state.isUnresponsive, with: true)
            }
            if !wasUnresponsive { log.write(.warning, "service manager: \(error)") }
        }
    }

    private static func latest(of assignments: [String]) -> [String] {
        // A reload begins with RELOADING and ends with READY: the last one counts.
        func variable(_ assignment: String) -> Substring {
            assignment == "RELOADING=1" ? "READY" : assignment.prefix { $0 != "=" }
        }
        return assignments.indices.filter { index in
            !assignments[(index + 1)...].contains { variable($0) == variable(assignments[index]) }
        }.map { assignments[$0] }
    }
}
