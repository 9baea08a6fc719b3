import TimeAndChance

/// Decides for each fix whether the track continues to it or breaks, and why.
package struct TrackContinuity: Sendable {
    /// The relation of a fix to the previous one.
    package enum Step: Sendable, Hashable {
        case first
        case onward(meters: Double)
        case broken(TrackBreak)
    }

    /// The maximum interval that is never a gap.
    package static let maximumInterval = Duration.seconds(10)
    /// A gap is also longer than this multiple of the shortest recent interval, so that the fixes of a receiver that is
    /// polled every half minute aren't separated by gaps.
    private static let usualIntervals: Int64 = 3
    private static let rememberedIntervals = 8

    private var previous: Fix?
    /// The fix before `previous`.
    private var earlier: Fix?
    /// The latest intervals in milliseconds, unordered.
    private var intervals = InlineArray<8, Int64>(repeating: .max)
    private var nextInterval = 0

    package init() {}

    /// Returns the relation of the next fix to the previous one.
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
        guard fix.isWithinReach(of: previous) || earlier.map({ fix.canContinue(from: $0, via: previous) }) ?? false
        else {
            return .broken(TrackBreak(cause: .jump, before: previous, after: fix))
        }
        return .onward(meters: previous.distance(to: fix))
    }

    private func isGap(_ milliseconds: Int64) -> Bool {
        guard Duration.milliseconds(milliseconds) > Self.maximumInterval else { return false }
        var shortest = Int64.max
        for index in intervals.indices { shortest = min(shortest, intervals[index]) }
        return shortest == .max || milliseconds / Self.usualIntervals > shortest
    }
}

/// A break of a track between one fix and the next.
package struct TrackBreak: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// There was no fix for longer than usual.
        case gap
        /// The time isn't later than the previous fix's, because logs were joined or a clock was set.
        case backward
        /// The distance from the previous fix is greater than a vehicle can drive in that time.
        case jump
    }

    package let cause: Cause
    package let before: Fix
    package let after: Fix

    /// The time from `before` to `after`; negative if the time goes back.
    package var duration: Duration { before.timeOfFix.duration(to: after.timeOfFix) }
    /// The distance between the two fixes.
    package var meters: Double { before.distance(to: after) }

    /// The importance of the break: its duration, or for a jump the time that the drive would take.
    var weight: Duration {
        switch cause {
        case .gap: duration
        case .backward: .zero - duration
        case .jump: .seconds(meters / 30)
        }
    }
}
