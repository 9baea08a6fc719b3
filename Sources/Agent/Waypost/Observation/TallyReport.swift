import GNSS
package import SQLiteOutbox

/// How many updates met one fate and from which time, as status and listings print it.
package struct TallyReport: Sendable, Hashable, Codable {
    package let count: Int64
    /// Of the fixes; absent when none is known.
    package let firstTimeOfFix: String?
    package let lastTimeOfFix: String?

    package init(_ tally: UpdateTally) {
        count = tally.count
        firstTimeOfFix = tally.timesOfFix?.lowerBound.description
        lastTimeOfFix = tally.timesOfFix?.upperBound.description
    }

    /// All reasons, also those that have no update.
    package static func byReason(_ evictions: Evictions) -> [String: Self] {
        Dictionary(uniqueKeysWithValues: EvictionReason.allCases.map { ($0.rawValue, Self(evictions[$0])) })
    }
}
