import LinuxPlatform
import Operations

/// The service manager, as the service speaks to it: what it had no room for is sent again with the next message.
final class ServiceManager: Sendable {
    private struct State {
        /// Assignments that were not heard, the last of each variable.
        var owed: [String] = []
        /// Told once, until it hears again.
        var isDeaf = false
    }

    private let notification: ServiceNotification
    private let log: LogWriter
    private let state = Locked(State())

    /// The time between two signs to the watchdog: half its limit, or less.
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

    /// Tells `assignments`, as `["READY=1", "STATUS=receiving"]`, and what is still owed.
    func tell(_ assignments: [String]) {
        let owed = state.withLock { exchange(&$0.owed, with: []) }
        let all = Self.latest(of: owed + assignments)
        do throws(SystemError) {
            try notification.send(all)
            let wasDeaf = state.withLock { exchange(&$0.isDeaf, with: false) }
            if wasDeaf { log.write(.info, "service manager: it takes messages again") }
        } catch {
            let wasDeaf = state.withLock { state in
                state.owed = Self.latest(of: all + state.owed)
                return exchange(&state.isDeaf, with: true)
            }
            if !wasDeaf { log.write(.warning, "service manager: \(error)") }
        }
    }

    private static func latest(of assignments: [String]) -> [String] {
        // A reload begins with the one and ends with the other: which came last counts.
        func variable(_ assignment: String) -> Substring {
            assignment == "RELOADING=1" ? "READY" : assignment.prefix { $0 != "=" }
        }
        return assignments.indices.filter { index in
            !assignments[(index + 1)...].contains { variable($0) == variable(assignments[index]) }
        }.map { assignments[$0] }
    }
}
