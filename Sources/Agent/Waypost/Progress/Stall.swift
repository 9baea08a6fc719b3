import LinuxPlatform

/// A stage that stands still without a reason.
package struct Stall: Sendable, Hashable, CustomStringConvertible {
    package let stage: Stage
    /// How long there has been no progress.
    package let duration: Duration
    /// How many repairs have been tried since there was any.
    package let repairs: Int

    package init(stage: Stage, duration: Duration, repairs: Int) {
        (self.stage, self.duration, self.repairs) = (stage, duration, repairs)
    }

    /// The stage, what is wrong, and for how long.
    package var description: String {
        let tried = repairs == 0 ? "" : repairs == 1 ? ", through 1 repair" : ", through \(repairs) repairs"
        return "\(stage.rawValue): \(stage.complaint) for \(duration.spoken)\(tried)"
    }
}
