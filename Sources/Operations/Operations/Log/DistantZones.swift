import LinuxPlatform
package import Reporting

/// Warns at the first fix of a run of private zones that are implausibly far from it.
package final class DistantZones: ReportingObserver {
    /// The zones that haven't been compared with a fix.
    private let zones: Locked<[PrivateZone]>
    private let log: LogWriter

    package init(_ zones: [PrivateZone], log: LogWriter) {
        self.zones = Locked(zones)
        self.log = log
    }

    package func observe(_ event: ReportingEvent) {
        guard case .fix(let fix) = event else { return }
        let zones = zones.withLock { zones in
            defer { zones = [] }
            return zones
        }
        for (index, zone) in zones.enumerated() where zone.isImplausible(from: fix) {
            log.write(
                .warning,
                "reporting.privateZones[\(index)] is more than 1,000 km from the vehicle; check that latitude and longitude "
                    + "are not swapped")
        }
    }
}
