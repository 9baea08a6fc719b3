package import Conditions
package import SQLiteOutbox

/// A watch that decides which evictions of pending updates are reported to the operator.
///
/// Updates that the operator has discarded and updates that were lost to damage aren't included, because they are
/// reported elsewhere.
package struct EvictionWatch: Sendable {
    /// The time for which a condition about evictions stays active after the last eviction.
    package static let displayTime = Duration.seconds(3600)

    private let start: Evictions
    private var last: Evictions

    /// Creates a watch. Evictions that are already counted in `start` aren't reported.
    package init(since start: Evictions) {
        self.start = start
        last = start
    }

    /// Returns the conditions for evictions that have occurred since the last call. The numbers in them count from
    /// `start`.
    package mutating func newConditions(for evictions: Evictions) -> [Condition] {
        defer { last = evictions }
        func count(_ reasons: EvictionReason..., since before: Evictions) -> Int64 {
            reasons.reduce(0) { $0 + evictions[$1].count - before[$1].count }
        }
        var conditions: [Condition] = []
        if count(.thinned, since: last) > 0 {
            conditions.append(Condition(thinned: count(.thinned, since: start)))
        }
        if count(.oldest, .age, since: last) > 0 {
            conditions.append(
                Condition(lostOldest: count(.oldest, since: start), aged: count(.age, since: start)))
        }
        return conditions
    }
}
