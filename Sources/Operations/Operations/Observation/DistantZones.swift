import Conditions
import LinuxPlatform
package import Reporting

/// Notices private zones that are implausibly far from every fix of a run: their coordinates are probably swapped.
package final class DistantZones: ReportingObserver {
    /// The zones that are far from all fixes so far, by their indices in the configuration.
    private let distant: Locked<[Int]>
    private let zones: [PrivateZone]
    private let monitor: AgentMonitor

    package init(_ zones: [PrivateZone], monitor: AgentMonitor) {
        self.zones = zones
        self.monitor = monitor
        distant = Locked(Array(zones.indices))
    }

    package func observe(_ event: ReportingEvent) {
        guard case .fix(let fix) = event else { return }
        let (before, found) = distant.withLock { distant in
            let before = distant
            distant.removeAll { !zones[$0].isImplausible(from: fix) }
            return (before, distant)
        }
        let topic = ActiveConditions.Topic.one(.privateZoneDistant)
        if !found.isEmpty {
            monitor.hold(Condition(distantZones: found), on: topic)
        } else if !before.isEmpty {
            monitor.clear(topic)
        }
    }
}
