import LocationReporting
import ReportedText

/// Recovers from a damaged store what can still be read, and accounts for the rest.
///
/// While the tables are intact (a row's body, the log or the ledger is damaged) they say exactly what is pending, and
/// only what they cannot give is looked for as loose records. Otherwise every loose record in database and log counts:
/// some may have been delivered, and are delivered again, which is better than one lost.
struct StoreSalvage {
    /// What was found.
    struct Result: Sendable, Hashable {
        let salvaged: Int64
        /// How many updates are missing that were pending: the ledger says how many there were, gaps how many there
        /// can have been. The two are one where the tables are intact.
        let lost: ClosedRange<Int64>
        let foundLedger: Bool
        /// How many of the salvaged updates may have been delivered before, as far as the ledger can say.
        var repeated: Int64 = 0
        /// Of the new store.
        fileprivate(set) var counters = OutboxCounters()
    }

    let files: StoreFiles
    let ownership: StoreOwnership?
    /// What the owner has in memory, when damage is noticed while running.
    let known: OutboxCounters?
    /// Of the pending updates those that are delivered, as the owner has in memory.
    let delivered: Set<Int64>
    /// Updates that one commit can hold.
    let longestCommit: Int

    /// Whether a ledger's figures are taken over; without one the rows alone count.
    static func trusts(_ counters: OutboxCounters) -> Bool {
        counters.isPlausible(upTo: OutboxCounters.Limit.repair)
    }

    /// Whether a sequence is of a commit that failed: its updates are still in memory, or were not accepted.
    private func isUnknown(_ sequence: Int64) -> Bool { known.map { sequence > $0.lastSequence } ?? false }

    /// Builds a new store beside the damaged one, which is only read.
    func build() throws(StoreError) -> Result {
        var result = Result(salvaged: 0, lost: 0...0, foundLedger: false)
        try StoreBuilder.build(files, for: ownership) { builder throws(StoreError) in
            let tables = try intactTables(builder)
            let (newestCopy, earliestCopy) = try takeLooseRecords(builder, tables)
            let least = max(known?.lastSequence ?? 0, newestCopy?.counters.lastSequence ?? 0)
            try builder.renumber(beyond: OutboxCounters.Limit.repair, after: least)
            let highest = try builder.highestSequence()
            var last = max(least, highest)
            let ledger: LedgerRecord?
            // What is at most one commit later than the tables did not end, or its page is damaged. Its ledger is not
            // trusted: without it a delivery may be repeated, with it a loss be hidden.
            if let tables, last <= tables.lastSequence + Int64(longestCommit),
                newestCopy.map({ $0.counters.revision <= tables.ledger.counters.revision + 1 }) ?? true
            {
                ledger = tables.ledger
                last = max(tables.lastSequence, highest)
                try builder.dropPending(ledger?.counters.newestDelivered)
                result = try judge(builder, tables)
                result.repeated = max(0, (newestCopy?.counters.settled ?? 0) - tables.ledger.counters.settled)
            } else {
                let memory = known.map { LedgerRecord($0, oldestPending: 0) }
                ledger = LedgerRecord.later(tables?.ledger ?? memory, newestCopy)
                try builder.dropPending(ledger?.counters.newestDelivered)
                result = try judge(builder, ledger, newestCopy, earliestCopy, lastSequence: last)
            }
            result.counters = try counters(ledger, result, lastSequence: last, builder)
            return result.counters
        }
        return result
    }

    /// Read twice, as everything that may be damaged.
    private func intactTables(_ builder: StoreBuilder) throws(StoreError) -> IntactTables? {
        if let tables = try IntactTables(files, known: known, into: builder) { return tables }
        try builder.empty()
        return try IntactTables(files, known: known, into: builder)
    }

    /// Takes over what the tables do not give. Returns the latest and the earliest loose copy of the ledger.
    private func takeLooseRecords(
        _ builder: StoreBuilder, _ tables: IntactTables?
    ) throws(StoreError) -> (newest: LedgerRecord?, earliest: LedgerRecord?) {
        var newestCopy: LedgerRecord?
        var earliestCopy: LedgerRecord?
        /// Whether the tables give it, or say that it is gone: an old copy is worthless then.
        func isAccountedFor(_ sequence: Int64, except unreadable: Set<Int64>?) -> Bool {
            guard let tables, let unreadable else { return false }
            return sequence <= tables.lastSequence && !unreadable.contains(sequence)
        }
        for (path, limit) in [(files.path, Int64.max), (files.log, StoreFormat.longestLog)] {
            try RowScan.scan(path: path, on: files.disk, upTo: limit) { row throws(StoreError) in
                if let candidate = LedgerRecord(row) {
                    if isUnknown(candidate.counters.lastSequence) || !Self.trusts(candidate.counters) { return }
                    newestCopy = LedgerRecord.later(newestCopy, candidate)
                    if candidate.counters.revision < earliestCopy?.counters.revision ?? .max {
                        earliestCopy = candidate
                    }
                } else if UpdateRecord(row) != nil {
                    if isAccountedFor(row.sequence, except: tables?.unreadable) || isUnknown(row.sequence) { return }
                    try builder.insert(row)
                } else if QuarantinedUpdate(row) != nil {
                    let unreadable = tables?.unreadableQuarantined
                    if isAccountedFor(row.sequence, except: unreadable) || isUnknown(row.sequence) { return }
                    try builder.insert(row)
                }
            }
        }
        return (newestCopy, earliestCopy)
    }

    /// What is missing of what intact tables say is there.
    private func judge(_ builder: StoreBuilder, _ tables: IntactTables) throws(StoreError) -> Result {
        try builder.dropSettled(before: 0)
        let later = max(0, try builder.rows.highestSequence() - tables.lastSequence)
        let pending = try builder.countPending()
        let missing = tables.pending + later - pending - (try countDelivered(among: tables.unreadable, builder))
        return Result(salvaged: pending, lost: missing...missing, foundLedger: true)
    }

    /// What is missing where only loose records tell.
    private func judge(
        _ builder: StoreBuilder, _ ledger: LedgerRecord?, _ newestCopy: LedgerRecord?, _ earliestCopy: LedgerRecord?,
        lastSequence: Int64
    ) throws(StoreError) -> Result {
        // What is in memory does not say.
        let oldestPending = newestCopy?.oldestPending ?? 0
        try builder.dropSettled(before: oldestPending)
        let pending = try builder.countPending()
        let gaps = Self.gaps(
            ledger?.counters, oldestPending: oldestPending, lastSequence: lastSequence, pending: pending,
            quarantined: try builder.countQuarantined(from: oldestPending))
        // Negative when more was found than was pending: old copies of updates that are settled.
        let missing = ledger.map { lastSequence - $0.counters.settled - pending }
        var most = gaps
        if let missing, let settled = ledger?.counters.settled, let earliest = earliestCopy?.counters.settled {
            most = min(gaps, missing + max(0, settled - earliest) + Self.longestSettlement)
        }
        let lost = max(0, missing ?? 0)...max(0, missing ?? 0, most)
        // Accepted after everything that is left.
        let behind = lastSequence - max(try builder.highestSequence(), newestCopy?.counters.lastSequence ?? 0)
        // A later ledger than the one in memory has counted them already.
        let isOfMemory = ledger.map { $0.counters.revision == known?.revision } ?? false
        let delivered = isOfMemory ? try countDelivered(among: delivered, builder) : 0
        let least = max(0, lost.lowerBound - delivered)
        return Result(
            salvaged: pending, lost: least...max(least, max(lost.upperBound, behind) - delivered),
            foundLedger: ledger != nil, repeated: missing.map { min(pending, max(0, lost.upperBound - $0)) } ?? 0)
    }

    /// How many of `sequences` are gone and were delivered, as the owner knows.
    private func countDelivered(
        among sequences: Set<Int64>, _ builder: StoreBuilder
    ) throws(StoreError) -> Int64 {
        var count: Int64 = 0
        for sequence in sequences.intersection(delivered) where try !builder.rows.isPending(sequence) { count += 1 }
        return count
    }

    /// More updates than one commit settles.
    private static let longestSettlement: Int64 = 2048

    /// How many sequences since the oldest pending one are neither here nor in quarantine. No more can be lost; most
    /// of them are of updates that are settled, but nothing says of which.
    private static func gaps(
        _ ledger: OutboxCounters?, oldestPending: Int64, lastSequence: Int64, pending: Int64, quarantined: Int64
    ) -> Int64 {
        // While a backlog drains, the newest of all has gone before the rest.
        let delivered: Int64 = ledger?.newestDelivered.map { $0.sequence >= oldestPending ? 1 : 0 } ?? 0
        return max(0, lastSequence - max(1, oldestPending) + 1 - pending - quarantined - delivered)
    }

    /// Counters that balance. What is not pending, evicted or in quarantine counts as delivered.
    private func counters(
        _ ledger: LedgerRecord?, _ result: Result, lastSequence: Int64, _ builder: StoreBuilder
    ) throws(StoreError) -> OutboxCounters {
        var counters = ledger?.counters ?? OutboxCounters()
        let quarantined = try builder.countQuarantined(from: 0)
        (counters.lastSequence, counters.pending) = (lastSequence, result.salvaged)
        counters.quarantined.count = max(counters.quarantined.count, quarantined)
        counters.evictions[.damage].count += result.lost.upperBound
        counters.delivered = 0
        let balance = lastSequence - counters.pending - counters.evictions.count - counters.quarantined.count
        counters.delivered = max(0, balance)
        // Old copies may be pending again, and rows from before the ledger's own time more than it has room for: then
        // what they were counted as gives way, a loss last.
        var surplus = max(0, -balance)
        func reduce(_ tally: inout UpdateTally, to least: Int64 = 0) {
            let taken = max(0, min(surplus, tally.count - least))
            tally.count -= taken
            surplus -= taken
        }
        reduce(&counters.quarantined, to: quarantined)
        for reason in [.discarded, .age, .thinned, .oldest, .damage] as [EvictionReason] {
            reduce(&counters.evictions[reason])
        }
        counters.newest = try builder.rows.latest(limit: OutboxEngine.newestSearchLimit)
            .reduce(counters.newestDelivered) { OutboxCounters.newer($0, $1.stored) }
        return counters
    }
}

/// What became of a damaged store: reported to the operator, counted in the ledger.
package struct StoreRecovery: Sendable, Hashable, CustomStringConvertible {
    /// The store that was damaged.
    package let path: String
    /// What was wrong with it.
    package let reason: String
    /// Where the damaged files are now; `nil` when there was nothing left to be renamed.
    package let renamedTo: String?
    /// Updates that wait again for delivery.
    package let salvaged: Int64
    /// Updates that were pending and are not found again, at least and at most. The ledger counts the most as evicted,
    /// so that no loss is hidden; some of these may have been delivered before.
    package let lost: ClosedRange<Int64>
    /// Whether the damaged store still said what had been delivered.
    package let foundLedger: Bool
    /// How many of the salvaged updates may have been delivered before: they are sent again, and count as pending.
    package var repeated: Int64 = 0

    package var description: String {
        let place = renamedTo.map { "it was renamed to \($0)" } ?? "nothing was left of it"
        let count =
            lost.lowerBound == lost.upperBound ? "\(lost.upperBound)" : "\(lost.lowerBound) to \(lost.upperBound)"
        let doubt =
            if !foundLedger {
                "; its ledger was unreadable, so some of these may have been delivered"
            } else if repeated > 0 {
                "; up to \(repeated) of those salvaged may have been delivered before and are sent again"
            } else {
                ""
            }
        return "\(path) was damaged (\(reason)); \(place); \(salvaged.counted("pending update")) salvaged, "
            + "\(count) lost\(doubt). Check the disk if this happens again"
    }
}
