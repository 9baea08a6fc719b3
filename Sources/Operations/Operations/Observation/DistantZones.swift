import Conditions
import LinuxPlatform
package import Reporting

/// A check for private zones that are implausibly far from every fix of the run. The latitude and longitude of such a
/// zone are probably swapped.
package final class DistantZones: ReportingObserver {
    private struct State {
        /// The indices of the private zones that have been far from every fix so far.
        var distantIndices: [Int]
        var hasFix = false
    }

    /// The time for which the condition stays active. It is limited, because a whole trip may correctly be far from all
    /// zones.
    private static let displayTime = Duration.seconds(3600)

    private let state: Locked<State>
    private let zones: [PrivateZone]
    private let monitor: AgentMonitor

    package init(_ zones: [PrivateZone], monitor: AgentMonitor) {
        self.zones = zones
        self.monitor = monitor
        state = Locked(State(distantIndices: Array(zones.indices)))
    }

    package func observe(_ event: ReportingEvent) {
        guard case .fix(let fix) = event else { return }
        let changed: [Int]? = state.withLock { state in
            let before = state
            state.distantIndices.removeAll { !zones[$0].isImplausiblyFar(from: fix) }
            state.hasFix = true
            return before.hasFix && before.distantIndices == state.distantIndices ? nil : state.distantIndices
        }
        guard let changed else { return }
        let topic = ActiveConditions.Topic.code(.privateModeMisconfigured)
        if changed.isEmpty {
            monitor.clear(topic)
        } else {
            monitor.raise(Condition(distantZones: changed), on: topic, for: Self.displayTime)
        }
    }
}
