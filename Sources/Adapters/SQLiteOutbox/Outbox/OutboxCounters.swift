import Reporting
import StrictJSON
package import TimeAndRandomness

/// The counters of a store. They are changed in memory, and written in the same transaction as the rows that they
/// count.
struct OutboxCounters: Sendable, Hashable {
    /// The sequence number of the last accepted update. It is also the number of accepted updates.
    var lastSequence: Int64 = 0
    /// The number of pending updates. It is counted from the rows and not derived from the other counters, so that the
    /// two can be checked against each other.
    var pending: Int64 = 0
    var delivered: Int64 = 0
    var quarantined = UpdateTally()
    var evictions = Evictions()
    var thinning = ThinningProgress()
    /// The number of times that the ledger's row has been written. If two copies of the row differ, the copy with the
    /// higher revision is newer.
    var revision: Int64 = 0
    /// The update with the latest time of fix among the pending and the delivered ones; `nil` if there is none.
    var newest: StoredUpdate?
    var newestDelivered: StoredUpdate?
    /// The time of the last delivery, according to the host's clock; `nil` if it isn't known.
    var lastDelivery: UTCTime?

    var ledger: Ledger {
        Ledger(
            accepted: lastSequence, delivered: delivered, pending: pending, evicted: evictions.count,
            quarantined: quarantined.count)
    }

    /// Whether the last accepted update is also the newest. When a store is opened, that is assumed if the last update
    /// was accepted after the ledger was written.
    var isLastNewest: Bool { newest?.sequence == lastSequence }

    /// The number of accepted updates that are no longer pending: delivered, evicted or quarantined.
    var settled: Int64 { delivered + evictions.count + quarantined.count }

    /// Accepts an update, and returns it with its sequence number. If `overrulingEarlier` is true, it becomes the
    /// newest one even if its time is earlier, because the earlier updates were wrong.
    mutating func accept(_ update: LocationUpdate, overrulingEarlier: Bool = false) -> StoredUpdate {
        lastSequence += 1
        pending += 1
        let stored = StoredUpdate(sequence: lastSequence, update: update)
        newest = overrulingEarlier ? stored : Self.newer(newest, stored)
        return stored
    }

    /// Counts an update as delivered. `time` is the time of the last delivery.
    mutating func deliver(_ stored: StoredUpdate, at time: UTCTime?) {
        lastDelivery = time ?? lastDelivery
        pending -= 1
        delivered += 1
        newestDelivered = Self.newer(unlessOverruled(newestDelivered), unlessOverruled(stored))
    }

    /// Returns `stored`, or `nil` if its time is later than that of the newest update. Such an update has been
    /// overruled, and must not become the newest again.
    private func unlessOverruled(_ stored: StoredUpdate?) -> StoredUpdate? {
        guard let stored, let newest else { return stored }
        return stored.update.timeOfFix <= newest.update.timeOfFix ? stored : nil
    }

    mutating func evict(_ stored: StoredUpdate, because reason: EvictionReason) {
        pending -= 1
        evictions[reason].add(stored.update.timeOfFix)
    }

    /// Counts an update as quarantined. If it is `newest`, the caller must then find out which update is the newest.
    mutating func quarantine(_ stored: StoredUpdate) {
        pending -= 1
        quarantined.add(stored.update.timeOfFix)
    }

    /// Counts a quarantined update as pending again.
    mutating func requeue(_ stored: StoredUpdate) {
        quarantined.count -= 1
        pending += 1
        newest = Self.newer(newest, stored)
    }

    /// Counts quarantined updates as evicted, because an operator has discarded them.
    mutating func discard(_ tally: UpdateTally) {
        quarantined.count -= tally.count
        evictions[.discarded].add(tally)
    }

    /// Narrows the quarantine's range of times to the times of `kept`, its remaining rows. Does nothing if the
    /// quarantine also counts updates whose rows are no longer kept, because their times are unknown.
    mutating func narrowQuarantine(to kept: [StoredUpdate]) {
        guard kept.count == quarantined.count else { return }
        quarantined = UpdateTally()
        for stored in kept { quarantined.add(stored.update.timeOfFix) }
    }

    /// Limits for the numbers of updates and of ledger writes, because a damaged file may contain any number. No
    /// vehicle comes near them, and no store is used long enough to get from one limit to the next. So everything that
    /// a store writes can be read again, and a repaired store passes the check when it is opened.
    enum Limit {
        /// The limit for any number in a row.
        static let record: Int64 = 1 << 53
        /// The limit for the numbers of a store when it is opened. Greater numbers mean that the store is damaged.
        static let opening: Int64 = 1 << 52
        /// The limit for the numbers that a repair uses.
        static let repair: Int64 = 1 << 51
    }

    /// Whether all numbers are in the range from 0 to `limit`.
    func isPlausible(upTo limit: Int64) -> Bool {
        ([lastSequence, pending, delivered, quarantined.count, revision]
            + EvictionReason.allCases.map { evictions[$0].count }).allSatisfy { 0...limit ~= $0 }
    }

    /// Whether these counters are from an earlier state of the store than `other`. Neither of the two numbers that are
    /// compared ever decreases.
    func isOlder(than other: Self) -> Bool { lastSequence < other.lastSequence || revision < other.revision }

    /// Returns the update with the later time of fix. If both times are equal, returns the update that was accepted
    /// later.
    static func newer(_ one: StoredUpdate?, _ other: StoredUpdate?) -> StoredUpdate? {
        guard let one, let other else { return one ?? other }
        return (one.update.timeOfFix, one.sequence) < (other.update.timeOfFix, other.sequence) ? other : one
    }
}

/// The reason for an eviction. The ledger's row contains a tally for each reason, with the reason's name as its key.
package enum EvictionReason: String, Sendable, Hashable, CaseIterable {
    /// The update was removed near the size limit. The remaining updates still show the track with an error of at most
    /// `ThinningStep.bound`.
    case thinned
    /// The update was one of the oldest, and was removed near the size limit because thinning hadn't freed enough
    /// space.
    case oldest
    /// The update was removed because its time of fix was more than `outbox.maximumAgeDays` before the newest time of
    /// fix.
    case age
    /// The update was lost because the store was damaged, and the repair didn't find its row.
    case damage
    /// An operator discarded the quarantined update.
    case discarded
}

package struct Evictions: Sendable, Hashable {
    /// The tallies by reason; reasons without evictions are absent.
    private var tallies: [EvictionReason: UpdateTally] = [:]

    package init() {}

    package subscript(reason: EvictionReason) -> UpdateTally {
        get { tallies[reason] ?? UpdateTally() }
        set { tallies[reason] = newValue == UpdateTally() ? nil : newValue }
    }

    /// The number of updates evicted for any reason, which the ledger shows as `evicted`.
    package var count: Int64 { tallies.values.reduce(0) { $0 + $1.count } }

    /// The tallies by reason, as JSON; `nil` if nothing was evicted.
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

/// The number of updates with the same outcome, and the range of their times.
package struct UpdateTally: Sendable, Hashable {
    package var count: Int64 = 0
    /// The earliest and the latest known time of fix; `nil` if none is known. The times of updates that were lost to
    /// damage are unknown.
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

    /// The count, followed by the first and the last time if they are known, as JSON; `nil` if nothing was counted.
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
