import Reporting

/// The salvage of a damaged store's readable rows, with a count of the lost updates. Rows that a `RowScan` finds,
/// without using the tables, are called loose rows. If only single rows, the log or the ledger are damaged, SQLite
/// finds the tables intact. They show exactly which updates are pending, and loose rows only replace their damaged
/// rows.
///
/// If the tables aren't intact, all loose rows in the database and the log are used. Some of their updates may be
/// delivered a second time, which is better than losing them.
struct StoreSalvage {
    /// The result of salvaging a store.
    struct Result: Sendable, Hashable {
        let salvaged: Int64
        /// The minimum and the maximum number of pending updates that were lost. The minimum follows from the ledger,
        /// the maximum from gaps in the sequence numbers. The two numbers are equal if the tables are intact.
        let lost: ClosedRange<Int64>
        let foundLedger: Bool
        /// The number of salvaged updates that, according to the ledger, may have been delivered already.
        let repeated: Int64
        /// The counters of the new store.
        let counters: OutboxCounters
    }

    /// The earliest and the newest copy of the ledger among the loose rows.
    private struct LedgerCopies {
        var newest: LedgerRecord?
        var earliest: LedgerRecord?

        mutating func add(_ copy: LedgerRecord) {
            newest = LedgerRecord.later(newest, copy)
            if copy.counters.revision < earliest?.counters.revision ?? .max { earliest = copy }
        }
    }

    let files: StoreFiles
    let ownership: StoreOwnership?
    /// The counters in the owner's memory; `nil` if the owner has no plausible counters, for example because it is just
    /// opening the store.
    let known: OutboxCounters?
    /// The sequence numbers of the updates that were delivered, but whose acknowledgement the owner hasn't written yet.
    let delivered: Set<Int64>
    /// The maximum number of updates in one commit.
    let maximumCommit: Int

    /// An upper limit for the number of updates that one commit delivers, evicts or quarantines.
    private static let maximumSettlement: Int64 = 2048

    /// Whether a ledger's numbers are plausible enough to be used. If they aren't, only the rows are used.
    static func trusts(_ counters: OutboxCounters) -> Bool {
        counters.isPlausible(upTo: OutboxCounters.Limit.repair)
    }

    /// Builds a new store next to the damaged one, which isn't changed. Returns the result of the salvage.
    func build() throws(OutboxError) -> Result {
        var result = Result(salvaged: 0, lost: 0...0, foundLedger: false, repeated: 0, counters: OutboxCounters())
        try StoreBuilder.build(files, for: ownership) { builder throws(OutboxError) in
            let tables = try copyIntactTables(into: builder)
            let copies = try copyLooseRows(into: builder, besides: tables)
            result = try countUpdates(tables: tables, copies: copies, in: builder)
            return result.counters
        }
        return result
    }

    /// Copies the rows of the tables if these are intact; otherwise returns `nil`. Tries twice, because a failing disk
    /// may succeed at the second attempt.
    private func copyIntactTables(into builder: StoreBuilder) throws(OutboxError) -> IntactTables? {
        if let tables = try IntactTables(files, known: known, into: builder) { return tables }
        try builder.removeAll()
        return try IntactTables(files, known: known, into: builder)
    }

    /// Copies the loose rows that the tables don't account for. Returns the copies of the ledger that were found.
    private func copyLooseRows(
        into builder: StoreBuilder, besides tables: IntactTables?
    ) throws(OutboxError) -> LedgerCopies {
        var copies = LedgerCopies()
        for (path, limit) in [(files.path, Int64.max), (files.log, StoreFormat.maximumLogBytes)] {
            try RowScan.scan(path: path, on: files.disk, upTo: limit) { row throws(OutboxError) in
                if let copy = LedgerRecord(row) {
                    if !isOfFailedCommit(copy.counters.lastSequence), Self.trusts(copy.counters) { copies.add(copy) }
                } else if tables?.accounts(for: row) != true, !isOfFailedCommit(row.sequence),
                    UpdateRecord(row) != nil || QuarantinedUpdate(row) != nil
                {
                    try builder.insert(row)
                }
            }
        }
        return copies
    }

    /// Whether the sequence number was given by a commit that failed. Its update is still in memory, or was never
    /// accepted.
    private func isOfFailedCommit(_ sequence: Int64) -> Bool { known.map { sequence > $0.lastSequence } ?? false }

    /// Counts the salvaged and the lost updates, and returns them as the result of the salvage. Drops rows of updates
    /// that are known to be delivered, evicted or quarantined.
    private func countUpdates(
        tables found: IntactTables?, copies: LedgerCopies, in builder: StoreBuilder
    ) throws(OutboxError) -> Result {
        let counted = max(known?.lastSequence ?? 0, copies.newest?.counters.lastSequence ?? 0)
        try builder.renumber(beyond: OutboxCounters.Limit.repair, after: counted)
        let highest = try builder.highestSequence()
        let accepted = max(counted, highest)
        let tables = found.flatMap { isFollowed($0, by: copies, upTo: accepted) ? nil : $0 }
        let lastSequence = tables.map { max($0.lastSequence, highest) } ?? accepted
        let memory = known.map { LedgerRecord($0, oldestPending: 0) }
        let ledger = tables?.ledger ?? LedgerRecord.later(found?.ledger ?? memory, copies.newest)
        try builder.dropPendingRow(of: ledger?.counters.newestDelivered)
        // The counters in memory don't show which pending update is the oldest, so only the copies of the ledger do.
        let oldestPending = tables == nil ? copies.newest?.oldestPending ?? 0 : 0
        try builder.dropSettled(before: oldestPending)

        let pending = try builder.countPending()
        // The number of missing rows. It is negative if old copies of delivered, evicted or quarantined updates were
        // found.
        let missing = ledger.map { lastSequence - $0.counters.settled - pending }
        // If the ledger on the disk is later than the counters in memory, it already includes the delivered updates.
        let isOfMemory = ledger.map { $0.counters.revision == known?.revision } ?? false
        let settled = isOfMemory ? try countDelivered(builder) : 0
        let minimumLost = max(0, (missing ?? 0) - settled)
        var maximumLost = minimumLost
        var repeated: Int64 = 0
        if let tables {
            repeated = max(0, (copies.newest?.counters.settled ?? 0) - tables.ledger.counters.settled)
        } else {
            let gaps = Self.gapCount(
                ledger: ledger?.counters, oldestPending: oldestPending, lastSequence: lastSequence, pending: pending,
                quarantined: try builder.countQuarantined(from: oldestPending))
            let bound = max(
                0, missing ?? 0,
                Self.maximumLoss(gaps: gaps, ledger: ledger, missing: missing, earliest: copies.earliest))
            // The number of updates that were accepted last and of which nothing was found, neither a row nor a ledger
            // that counts them.
            let later = lastSequence - max(try builder.highestSequence(), copies.newest?.counters.lastSequence ?? 0)
            maximumLost = max(minimumLost, max(bound, later) - settled)
            repeated = missing.map { min(pending, max(0, bound - $0)) } ?? 0
        }
        return Result(
            salvaged: pending, lost: minimumLost...maximumLost, foundLedger: ledger != nil, repeated: repeated,
            counters: try balancedCounters(
                ledger, pending: pending, lost: maximumLost, lastSequence: lastSequence, in: builder))
    }

    /// Whether loose rows or copies of the ledger are later than the tables by more than one commit. If it is only one,
    /// that commit is incomplete or its page is damaged, and its ledger isn't used. Ignoring it may repeat a delivery,
    /// but using it might hide a loss.
    private func isFollowed(_ tables: IntactTables, by copies: LedgerCopies, upTo accepted: Int64) -> Bool {
        let revision = copies.newest?.counters.revision ?? 0
        return accepted > tables.lastSequence + Int64(maximumCommit)
            || revision > tables.ledger.counters.revision + 1
    }

    /// Returns the number of updates in `delivered` whose rows weren't found.
    private func countDelivered(_ builder: StoreBuilder) throws(OutboxError) -> Int64 {
        var count: Int64 = 0
        for sequence in delivered where try !builder.rows.isPending(sequence) { count += 1 }
        return count
    }

    /// Returns the number of sequence numbers, beginning with the oldest pending one, for which there is no pending and
    /// no quarantined row. This number is the maximum loss. Most of these updates had been delivered or evicted, but it
    /// is unknown which of them.
    private static func gapCount(
        ledger: OutboxCounters?, oldestPending: Int64, lastSequence: Int64, pending: Int64, quarantined: Int64
    ) -> Int64 {
        // While a backlog is being sent, the newest update is delivered before the older ones. So one gap in the
        // sequence may be that update.
        let delivered: Int64 = ledger?.newestDelivered.map { $0.sequence >= oldestPending ? 1 : 0 } ?? 0
        return max(0, lastSequence - max(1, oldestPending) + 1 - pending - quarantined - delivered)
    }

    /// Returns the maximum loss. The result is `gaps`, unless the copies of the ledger show a lower limit: fewer
    /// updates can have been delivered, evicted or quarantined since the earliest copy.
    private static func maximumLoss(
        gaps: Int64, ledger: LedgerRecord?, missing: Int64?, earliest: LedgerRecord?
    ) -> Int64 {
        guard let missing, let settled = ledger?.counters.settled, let earliest = earliest?.counters.settled else {
            return gaps
        }
        return min(gaps, missing + max(0, settled - earliest) + maximumSettlement)
    }

    /// Returns counters that add up. All updates that aren't pending, evicted or quarantined are counted as delivered.
    private func balancedCounters(
        _ ledger: LedgerRecord?, pending: Int64, lost: Int64, lastSequence: Int64, in builder: StoreBuilder
    ) throws(OutboxError) -> OutboxCounters {
        var counters = ledger?.counters ?? OutboxCounters()
        let quarantined = try builder.countQuarantined(from: 0)
        counters.lastSequence = lastSequence
        counters.pending = pending
        counters.quarantined.count = max(counters.quarantined.count, quarantined)
        counters.evictions[.damage].count += lost
        counters.delivered = 0
        let balance = lastSequence - counters.pending - counters.evictions.count - counters.quarantined.count
        counters.delivered = max(0, balance)
        // Old copies of delivered or evicted updates may have been found, so there may be more rows than the ledger
        // allows. The surplus is subtracted from the counters in the order below, from the losses last.
        var surplus = max(0, -balance)
        func reduce(_ tally: inout UpdateTally, to minimum: Int64 = 0) {
            let taken = max(0, min(surplus, tally.count - minimum))
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
