package import Conditions
package import SQLiteOutbox

/// Decides which evictions of pending updates an operator should know about.
///
/// Updates that an operator discards, and updates lost to damage, are reported elsewhere.
package struct EvictionWatch: Sendable {
    /// The time for which evictions are shown after the last one.
    package static let displayTime = Duration.seconds(3600)

    private let start: Evictions
    private var last: Evictions

    /// Creates a watch for the evictions after `start`.
    package init(since start: Evictions) {
        self.start = start
        last = start
    }

    /// Returns the conditions for new evictions.
    package mutating func conditions(of evictions: Evictions) -> [Condition] {
        defer { last = evictions }
        func count(_ reasons: EvictionReason..., since before: Evictions) -> Int64 {
            reasons.reduce(0) { $0 + evictions[$1].count - before[$1].count }
        }
        var conditions: [Condition] = []
        if count(.thinned, since: last) > 0 {
            conditions.append(Condition(thinned: count(.thinned, since: start)))
        }
        if count(.oldest, .age, since: last) > 0 {
            conditions.append(Condition(lost: count(.oldest, .age, since: start)))
        }
        return conditions
    }
}
