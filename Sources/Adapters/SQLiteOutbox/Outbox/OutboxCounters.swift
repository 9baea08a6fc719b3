import Reporting
import StrictJSON
package import TimeAndChance

/// Everything the store knows besides the rows: pure bookkeeping, changed in memory and written by the transaction
/// that makes it true.
struct OutboxCounters: Sendable, Hashable {
    /// The sequence of the last accepted update, which is how many were accepted.
    var lastSequence: Int64 = 0
    /// Counted up and down row by row, not derived from the others: that is what makes the balance a check.
    var pending: Int64 = 0
    var delivered: Int64 = 0
    var quarantined = UpdateTally()
    var evictions = Evictions()
    var thinning = ThinningProgress()
    /// How often the ledger's row has been written: of two copies the later one is known by it.
    var revision: Int64 = 0
    /// The newest by time of fix of all that were accepted, except those in quarantine: pending or delivered.
    var newest: StoredUpdate?
    var newestDelivered: StoredUpdate?

    var ledger: Ledger {
        Ledger(
            accepted: lastSequence, delivered: delivered, pending: pending, evicted: evictions.count,
            quarantined: quarantined.count)
    }

    /// Whether the update that was accepted last is the newest. Opening a store relies on it for rows that its ledger
    /// doesn't know of.
    var isLastNewest: Bool { newest?.sequence == lastSequence }

    /// How many accepted updates are no longer pending.
    var settled: Int64 { delivered + evictions.count + quarantined.count }

    /// `overrulingEarlier` makes the update the newest whatever its time: those before it were wrong.
    mutating func accept(_ update: LocationUpdate, overrulingEarlier: Bool = false) -> StoredUpdate {
        lastSequence += 1
        pending += 1
        let stored = StoredUpdate(sequence: lastSequence, update: update)
        newest = overrulingEarlier ? stored : Self.newer(newest, stored)
        return stored
    }

    mutating func deliver(_ stored: StoredUpdate) {
        pending -= 1
        delivered += 1
        // What lies after the newest was overruled: it must not come back as the newest.
        let candidates = [newestDelivered, stored].compactMap { $0 }.filter { candidate in
            newest.map { candidate.update.timeOfFix <= $0.update.timeOfFix } ?? true
        }
        newestDelivered = candidates.reduce(nil, Self.newer)
    }

    mutating func evict(_ stored: StoredUpdate, _ reason: EvictionReason) {
        pending -= 1
        evictions[reason].add(stored.update.timeOfFix)
    }

    /// `newest` has to be found again by the caller when it is the one that is quarantined.
    mutating func quarantine(_ stored: StoredUpdate) {
        pending -= 1
        quarantined.add(stored.update.timeOfFix)
    }

    /// Out of quarantine, to be delivered once more.
    mutating func requeue(_ stored: StoredUpdate) {
        quarantined.count -= 1
        pending += 1
        newest = Self.newer(newest, stored)
    }

    /// Out of quarantine, evicted.
    mutating func discard(_ tally: UpdateTally) {
        quarantined.count -= tally.count
        evictions[.discarded].add(tally)
    }

    /// Tells which times quarantine covers once some have left it; `kept` are those whose rows are there. While there
    /// are more than rows, the range that covered all of them stays.
    mutating func narrowQuarantine(to kept: [StoredUpdate]) {
        guard kept.count == quarantined.count else { return }
        quarantined = UpdateTally()
        for stored in kept { quarantined.add(stored.update.timeOfFix) }
    }

    /// How many updates there may be, and how often the ledger may have been written: no vehicle comes near that, but
    /// whoever may write the file can write anything. Between two limits is more room than work ever takes, so that
    /// what is written can be read, and what a repair leaves is trusted whenever it is opened.
    enum Limit {
        /// Of what a record can say.
        static let record: Int64 = 1 << 53
        /// Of a store that is opened; beyond, it is damaged.
        static let opening: Int64 = 1 << 52
        /// Of what a repair takes over.
        static let repair: Int64 = 1 << 51
    }

    /// Whether work can have led to these figures: none is below zero, or beyond `limit`.
    func isPlausible(upTo limit: Int64) -> Bool {
        ([lastSequence, pending, delivered, quarantined.count, revision]
            + EvictionReason.allCases.map { evictions[$0].count }).allSatisfy { 0...limit ~= $0 }
    }

    /// Whether `other` knows of updates or of removals that these do not: counters of one store only grow.
    func isOlder(than other: Self) -> Bool { lastSequence < other.lastSequence || revision < other.revision }

    /// Of equal times of fix the one accepted later is the newer.
    static func newer(_ one: StoredUpdate?, _ other: StoredUpdate?) -> StoredUpdate? {
        guard let one, let other else { return one ?? other }
        return (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence) ? other : one
    }
}

/// Why an accepted update was evicted. The ledger's row has a tally of each under its name.
package enum EvictionReason: String, Sendable, Hashable, CaseIterable {
    /// Near the byte cap, and what is left says where it was to within a stated bound.
    case thinned
    /// At the byte cap, where thinning frees no more.
    case oldest
    /// Older than `outbox.maximumAgeDays`, by the newest time of fix.
    case age
    /// Not found again after damage.
    case damage
    /// By an operator, out of quarantine.
    case discarded
}

package struct Evictions: Sendable, Hashable {
    /// None is zero.
    private var tallies: [EvictionReason: UpdateTally] = [:]

    package init() {}

    package subscript(reason: EvictionReason) -> UpdateTally {
        get { tallies[reason] ?? UpdateTally() }
        set { tallies[reason] = newValue == UpdateTally() ? nil : newValue }
    }

    /// The word `evicted` of the ledger.
    package var count: Int64 { tallies.values.reduce(0) { $0 + $1.count } }

    /// The tallies by reason; `nil` if nothing was evicted.
    var json: JSONValue? {
        if tallies.isEmpty { return nil }
        return .object(
            tallies.reduce(into: [:]) { object, tally in object[tally.key.rawValue] = tally.value.json })
    }

    init?(_ json: JSONValue?) {
        for reason in EvictionReason.allCases {
            guard let tally = UpdateTally(json?[reason.rawValue]) else { return nil }
            self[reason] = tally
        }
    }
}

/// How many updates met one fate, and from which time.
package struct UpdateTally: Sendable, Hashable {
    package var count: Int64 = 0
    /// From the earliest to the latest time of fix, as far as they are known; the times of rows lost to damage are not.
    package var timesOfFix: ClosedRange<UTCTime>?

    package init(count: Int64 = 0, timesOfFix: ClosedRange<UTCTime>? = nil) {
        self.count = count
        self.timesOfFix = timesOfFix
    }

    mutating func add(_ timeOfFix: UTCTime) { add(UpdateTally(count: 1, timesOfFix: timeOfFix...timeOfFix)) }

    mutating func add(_ other: Self) {
        count += other.count
        guard let more = other.timesOfFix else { return }
        let range = timesOfFix ?? more
        timesOfFix = min(range.lowerBound, more.lowerBound)...max(range.upperBound, more.upperBound)
    }

    /// The count, with the first and the last time if they are known; `nil` if there is nothing to tell.
    var json: JSONValue? {
        if self == UpdateTally() { return nil }
        let times = timesOfFix.map { [$0.lowerBound, $0.upperBound] } ?? []
        return .array([.integer(count)] + times.map { .integer($0.millisecondsSince1970) })
    }

    init?(_ json: JSONValue?) {
        self.init()
        guard let json else { return }
        guard let count = json[0]?.count, let numbers = json.arrayValue else { return nil }
        self.count = count
        if numbers.count == 1 { return }
        let times = numbers.dropFirst().compactMap(\.integerValue).filter(StoredRow.plausibleTimes.contains)
        guard times.count == 2, times[0] <= times[1] else { return nil }
        timesOfFix = UTCTime(millisecondsSince1970: times[0])...UTCTime(millisecondsSince1970: times[1])
    }
}
