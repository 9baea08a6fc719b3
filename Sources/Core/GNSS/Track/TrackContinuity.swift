import TimeAndRandomness

/// A classifier that decides for each fix whether the track continues to that fix or breaks before it, and why it
/// breaks.
package struct TrackContinuity: Sendable {
    /// The relation of a fix to the previous fix.
    package enum Step: Sendable, Hashable {
        case first
        case onward(meters: Double)
        case broken(TrackBreak)
    }

    /// The maximum interval between two fixes that is never considered a gap.
    package static let maximumInterval = Duration.seconds(10)
    /// The multiple of the shortest recent interval that a gap must also exceed. Otherwise there would be a gap between
    /// any two fixes of a receiver that is polled every half minute.
    private static let gapFactor: Int64 = 3
    private static let rememberedIntervalCount = 8

    private var previous: Fix?
    /// The fix before `previous`; `nil` if there was none.
    private var earlier: Fix?
    /// The latest intervals between fixes in milliseconds, in no particular order.
    private var intervals = InlineArray<8, Int64>(repeating: .max)
    private var nextIntervalIndex = 0

    package init() {}

    /// Returns whether the track continues from the previous fix to `fix`, or why it breaks.
    package mutating func step(to fix: Fix) -> Step {
        defer {
            earlier = previous
            previous = fix
        }
        guard let previous else { return .first }
        let milliseconds = fix.timeOfFix.millisecondsSince1970 - previous.timeOfFix.millisecondsSince1970
        guard milliseconds > 0 else { return .broken(TrackBreak(cause: .backward, before: previous, after: fix)) }
        let isGap = isGap(milliseconds: milliseconds)
        intervals[nextIntervalIndex] = milliseconds
        nextIntervalIndex = (nextIntervalIndex + 1) % Self.rememberedIntervalCount
        if isGap { return .broken(TrackBreak(cause: .gap, before: previous, after: fix)) }
        guard fix.isWithinReach(of: previous) || earlier.map({ fix.canContinue(from: $0, via: previous) }) ?? false
        else {
            return .broken(TrackBreak(cause: .jump, before: previous, after: fix))
        }
        return .onward(meters: previous.distance(to: fix))
    }

    private func isGap(milliseconds: Int64) -> Bool {
        guard Duration.milliseconds(milliseconds) > Self.maximumInterval else { return false }
        var shortest = Int64.max
        for index in intervals.indices { shortest = min(shortest, intervals[index]) }
        return shortest == .max || milliseconds / Self.gapFactor > shortest
    }
}

/// A break in a track between two consecutive fixes.
package struct TrackBreak: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// No fix arrived for longer than usual.
        case gap
        /// The fix isn't later than the previous one, because logs were joined or a clock was set.
        case backward
        /// The fix is farther from the previous one than a vehicle can drive in the time between them.
        case jump
    }

    package let cause: Cause
    package let before: Fix
    package let after: Fix

    /// The time from `before` to `after`; negative if `after` is earlier.
    package var duration: Duration { before.timeOfFix.duration(to: after.timeOfFix) }
    /// The distance between the two fixes, in metres.
    package var meters: Double { before.distance(to: after) }

    /// The importance of the break. For a gap or a step back in time, it is the duration. For a jump, it is the time
    /// that a vehicle would need for the distance.
    var weight: Duration {
        switch cause {
        case .gap: duration
        case .backward: .zero - duration
        case .jump: .seconds(meters / 30)
        }
    }
}
