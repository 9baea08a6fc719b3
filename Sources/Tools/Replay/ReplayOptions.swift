package import GNSSReceiver

/// The options of a replay.
package struct ReplayOptions: Sendable, Equatable {
    package var logs: [String]
    package var speed: ReplaySpeed
    package var keepsTime = false
    package var loops = false
    package var fleet = FleetPlan()
    package var follows = false
    /// Whether sentences without a checksum are accepted even if the configuration doesn't accept them.
    package var acceptsMissingChecksum = false

    /// Creates options for one vehicle.
    package init(logs: [String], speed: ReplaySpeed) {
        self.logs = logs
        self.speed = speed
    }

    /// Whether the fixes of later laps must follow each other faster than in the log. Otherwise, their times would be
    /// in the future, or before times that have already been sent.
    package var acceleratesLaps: Bool { loops && !keepsTime && speed.stretch < 1 }
}
