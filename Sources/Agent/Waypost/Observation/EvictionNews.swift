import SQLiteOutbox

/// Decides when the log tells that waiting updates were given up: the first at once, then every ten minutes at most.
///
/// Those that an operator discards, and those lost to damage, are told elsewhere.
struct EvictionNews {
    private static let interval = Duration.seconds(600)
    private static let reasons = [EvictionReason.thinned, .oldest, .age]

    /// By reason, what has been told, or was there at the start.
    private var told: [EvictionReason: Int64] = [:]
    private var toldAt: Duration?

    /// `evictions`: what was given up before.
    init(since evictions: Evictions) { note(evictions) }

    /// The line for the log, if there is one at `now`.
    mutating func line(_ evictions: Evictions, at now: Duration) -> String? {
        if let toldAt, now - toldAt < Self.interval { return nil }
        let fresh = Self.reasons.map { ($0, evictions[$0].count - (told[$0] ?? 0)) }.filter { $0.1 > 0 }
        guard !fresh.isEmpty else { return nil }
        toldAt = now
        note(evictions)
        let counts = fresh.map { reason, count in
            switch reason {
            case .thinned: "\(count) thinned, those that stay tell their way"
            case .oldest: "\(count) of the oldest dropped"
            case .age, .damage, .discarded: "\(count) too old"
            }
        }
        return "waiting updates were given up: \(counts.joined(separator: "; ")). See why nothing is delivered"
    }

    private mutating func note(_ evictions: Evictions) {
        for reason in Self.reasons { told[reason] = evictions[reason].count }
    }
}
