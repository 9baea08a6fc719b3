/// A place where a track does not go on from one fix to the next.
package struct TrackBreak: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// Nothing came for longer than usual.
        case gap
        /// The time is not after the one before: a splice, or a clock that was set.
        case backward
        /// Farther away than a vehicle gets in the time between.
        case jump
    }

    package let cause: Cause
    package let before: Fix
    package let after: Fix

    package init(_ cause: Cause, from before: Fix, to after: Fix) {
        (self.cause, self.before, self.after) = (cause, before, after)
    }

    /// From the fix before to the one after; negative where the time goes back.
    package var duration: Duration { before.timeOfFix.duration(to: after.timeOfFix) }
    /// Metres between the two fixes.
    package var meters: Double { before.distance(to: after) }

    /// How much it matters among others: its time; of a jump, the time that the way would take.
    var weight: Duration {
        switch cause {
        case .gap: duration
        case .backward: .zero - duration
        case .jump: .seconds(meters / 30)
        }
    }
}
