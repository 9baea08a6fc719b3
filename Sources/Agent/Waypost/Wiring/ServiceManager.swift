import Conditions
import LinuxPlatform
import Operations

/// A client that sends messages to the service manager. The next message includes the assignments of earlier messages
/// that couldn't be sent.
final class ServiceManager: Sendable {
    private struct State {
        /// The assignments that couldn't be sent yet. Only the latest value of each variable is kept.
        var unsent: [String] = []
    }

    private let notifier: ServiceNotifier
    private let monitor: AgentMonitor
    private let state = Locked(State())

    /// The interval at which to feed the service manager's watchdog: at most half its timeout.
    let feedInterval: Duration

    init(_ notifier: ServiceNotifier, feedInterval: Duration = .seconds(10), monitor: AgentMonitor) {
        self.notifier = notifier
        self.feedInterval = feedInterval
        self.monitor = monitor
    }

    /// Creates a client for the service manager named by `NOTIFY_SOCKET` and `WATCHDOG_USEC` in `environment`. Without
    /// `NOTIFY_SOCKET`, nothing is sent.
    convenience init(_ environment: [String: String], monitor: AgentMonitor) {
        let limit = environment["WATCHDOG_USEC"].flatMap(Int64.init).map(Duration.microseconds) ?? .seconds(20)
        self.init(
            ServiceNotifier(socketPath: environment["NOTIFY_SOCKET"]),
            feedInterval: min(limit / 2, .seconds(10)), monitor: monitor)
    }

    /// Sends `assignments`, such as `["READY=1", "STATUS=receiving"]`, together with earlier ones that couldn't be
    /// sent.
    func send(_ assignments: [String]) {
        let unsent = state.withLock { exchange(&$0.unsent, with: []) }
        let all = Self.latestPerVariable(of: unsent + assignments)
        do throws(SystemError) {
            try notifier.send(all)
            monitor.clear(.systemInterface(.serviceManager))
        } catch {
            state.withLock { $0.unsent = Self.latestPerVariable(of: all + $0.unsent) }
            monitor.hold(
                Condition(unavailable: .serviceManager, because: error), on: .systemInterface(.serviceManager))
        }
    }

    private static func latestPerVariable(of assignments: [String]) -> [String] {
        // RELOADING begins a reload and READY ends it, so they count as one variable, whose last value applies.
        func variable(of assignment: String) -> Substring {
            assignment == "RELOADING=1" ? "READY" : assignment.prefix { $0 != "=" }
        }
        return assignments.indices.filter { index in
            !assignments[(index + 1)...].contains { variable(of: $0) == variable(of: assignments[index]) }
        }.map { assignments[$0] }
    }
}
