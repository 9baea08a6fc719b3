import Reporting
import StrictJSON
package import TimeAndChance

/// The counters of a store: pure bookkeeping, changed in memory and written in the transaction that makes them true.
struct OutboxCounters: Sendable, Hashable {
    /// The sequence of the last accepted update, which is the number of accepted updates.
    var lastSequence: Int64 = 0
    /// The number of pending updates. It is counted row by row, not derived from the other counters, so that comparing
    /// it with them is a check.
    var pending: Int64 = 0
    var delivered: Int64 = 0
    var quarantined = UpdateTally()
    var evictions = Evictions()
    var thinning = ThinningProgress()
    /// The number of times that the ledger's row has been written. The later of two copies has the higher revision.
    var revision: Int64 = 0
    /// The pending or delivered update with the latest time of fix.
    var newest: StoredUpdate?
    var newestDelivered: StoredUpdate?

    var ledger: Ledger {
        Ledger(
            accepted: lastSequence, delivered: delivered, pending: pending, evicted: evictions.count,
            quarantined: quarantined.count)
    }

    /// Whether the update that was accepted last is the newest. When a store is opened, this is assumed for rows that
    /// its ledger doesn't include.
    var isLastNewest: Bool { newest?.sequence == lastSequence }

    /// The number of accepted updates that are no longer pending.
    var settled: Int64 { delivered + evictions.count + quarantined.count }

    /// Accepts an update. `overrulingEarlier` makes the update the newest one whatever its time, because earlier
    /// updates were wrong.
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
        // An update with a later time than the newest was overruled: it must not become the newest again.
        let candidates = [newestDelivered, stored].compactMap { $0 }.filter { candidate in
            newest.map { candidate.update.timeOfFix <= $0.update.timeOfFix } ?? true
        }
        newestDelivered = candidates.reduce(nil, Self.newer)
    }

    mutating func evict(_ stored: StoredUpdate, _ reason: EvictionReason) {
        pending -= 1
        evictions[reason].add(stored.update.timeOfFix)
    }

    /// Moves an update into quarantine. If it was `newest`, the caller must determine the newest update again.
    mutating func quarantine(_ stored: StoredUpdate) {
        pending -= 1
        quarantined.add(stored.update.timeOfFix)
    }

    /// Makes a quarantined update pending again.
    mutating func requeue(_ stored: StoredUpdate) {
        quarantined.count -= 1
        pending += 1
        newest = Self.newer(newest, stored)
    }

    /// Counts quarantined updates as evicted.
    mutating func discard(_ tally: UpdateTally) {
        quarantined.count -= tally.count
        evictions[.discarded].add(tally)
    }

    /// Narrows the quarantine's range of times to that of `kept`, its remaining rows. Does nothing while the quarantine
    /// also contains older updates without rows.
    mutating func narrowQuarantine(to kept: [StoredUpdate]) {
        guard kept.count == quarantined.count else { return }
        quarantined = UpdateTally()
        for stored in kept { quarantined.add(stored.update.timeOfFix) }
    }

    /// Limits for the numbers of updates and of ledger writes. No vehicle comes near them, but a file can contain
    /// anything. No store is used long enough to get from one limit to the next. Therefore whatever is written can be
    /// read, and a repaired store is trusted when it is opened.
    enum Limit {
        /// The limit for numbers that a row contains.
        static let record: Int64 = 1 << 53
        /// The limit for a store that is opened. Greater numbers show that the store is damaged.
        static let opening: Int64 = 1 << 52
        /// The limit for numbers that a repair accepts.
        static let repair: Int64 = 1 << 51
    }

    /// Whether every number is from 0 to `limit`.
    func isPlausible(upTo limit: Int64) -> Bool {
        ([lastSequence, pending, delivered, quarantined.count, revision]
            + EvictionReason.allCases.map { evictions[$0].count }).allSatisfy { 0...limit ~= $0 }
    }

    /// Whether `other` counts updates or removals that these counters lack. The counters of a store only grow.
    func isOlder(than other: Self) -> Bool { lastSequence < other.lastSequence || revision < other.revision }

    /// Returns the update with the later time of fix; if the times are equal, the one that was accepted later.
    static func newer(_ one: StoredUpdate?, _ other: StoredUpdate?) -> StoredUpdate? {
        guard let one, let other else { return one ?? other }
        return (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence) ? other : one
    }
}

/// The reason for an eviction. The ledger's row has a tally for each reason, under its name.
package enum EvictionReason: String, Sendable, Hashable, CaseIterable {
    /// The update was removed near the size limit. The remaining updates still show the track within
    /// `ThinningStep.bound`.
    case thinned
    /// The update was removed at the size limit, because thinning had freed too little.
    case oldest
    /// The update was removed because its time of fix was more than `outbox.maximumAgeDays` before the newest one.
    case age
    /// The update was lost to damage: the repair didn't find it.
    case damage
    /// An operator discarded the update from quarantine.
    case discarded
}

package struct Evictions: Sendable, Hashable {
    /// The tallies that aren't zero.
    private var tallies: [EvictionReason: UpdateTally] = [:]

    package init() {}

    package subscript(reason: EvictionReason) -> UpdateTally {
        get { tallies[reason] ?? UpdateTally() }
        set { tallies[reason] = newValue == UpdateTally() ? nil : newValue }
    }

    /// The number of evicted updates, `evicted` in the ledger.
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

/// The number of updates with a common outcome, and their times.
package struct UpdateTally: Sendable, Hashable {
    package var count: Int64 = 0
    /// The earliest and the latest known time of fix. The times of rows lost to damage are unknown.
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

    /// The count, with the first and the last time if they are known; `nil` if the tally is zero.
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
