import TimeAndChance

/// Decides for each fix whether the track continues to it or breaks, and why.
package struct TrackContinuity: Sendable {
    /// How a fix follows the one before.
    package enum Step: Sendable, Hashable {
        case first
        /// The track continues by that many metres.
        case onward(meters: Double)
        case broken(TrackBreak)
    }

    /// A shorter interval is never a gap.
    package static let longestInterval = Duration.seconds(10)
    /// A receiver that is asked every half minute has no gap every half minute: a gap is also longer than this many of
    /// the shortest of the intervals before it.
    private static let usualIntervals: Int64 = 3
    private static let rememberedIntervals = 8

    private var previous: Fix?
    /// The fix before `previous`.
    private var earlier: Fix?
    /// The latest intervals in milliseconds, in no order.
    private var intervals = InlineArray<8, Int64>(repeating: .max)
    private var nextInterval = 0

    package init() {}

    /// Judges the next fix.
    package mutating func step(to fix: Fix) -> Step {
        defer {
            earlier = previous
            previous = fix
        }
        guard let previous else { return .first }
        let milliseconds = fix.timeOfFix.millisecondsSince1970 - previous.timeOfFix.millisecondsSince1970
        guard milliseconds > 0 else { return .broken(TrackBreak(cause: .backward, before: previous, after: fix)) }
        let isGap = isGap(milliseconds)
        intervals[nextInterval] = milliseconds
        nextInterval = (nextInterval + 1) % Self.rememberedIntervals
        if isGap { return .broken(TrackBreak(cause: .gap, before: previous, after: fix)) }
        guard fix.isWithinReach(of: previous) || earlier.map({ fix.continues(from: $0, by: previous) }) ?? false else {
            return .broken(TrackBreak(cause: .jump, before: previous, after: fix))
        }
        return .onward(meters: previous.distance(to: fix))
    }

    private func isGap(_ milliseconds: Int64) -> Bool {
        guard Duration.milliseconds(milliseconds) > Self.longestInterval else { return false }
        var shortest = Int64.max
        for index in intervals.indices { shortest = min(shortest, intervals[index]) }
        return shortest == .max || milliseconds / Self.usualIntervals > shortest
    }
}

/// A place where a track breaks between one fix and the next.
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
