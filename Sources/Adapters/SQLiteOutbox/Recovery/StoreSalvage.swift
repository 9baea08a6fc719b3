import Reporting

/// Salvages the readable rows of a damaged store, and accounts for the rest.
///
/// If only a row, the log or the ledger is damaged, SQLite finds the tables intact. In that case the tables show
/// exactly what is pending, and only unreadable rows are searched for as loose rows. Otherwise every loose row in the
/// database and the log is used. Some of these updates may be delivered a second time, which is better than losing
/// them.
struct StoreSalvage {
    /// The outcome of a salvage.
    struct Result: Sendable, Hashable {
        let salvaged: Int64
        /// The minimum and maximum number of pending updates that are missing. The minimum follows from the ledger, the
        /// maximum from gaps in the sequence numbers. With intact tables they are equal.
        let lost: ClosedRange<Int64>
        let foundLedger: Bool
        /// The number of salvaged updates that may have been delivered before, according to the ledger.
        let repeated: Int64
        /// The counters of the new store.
        let counters: OutboxCounters
    }

    /// The copies of the ledger among the loose rows.
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
    /// The counters in the owner's memory, if the damage was found while running.
    let known: OutboxCounters?
    /// The sequence numbers of the delivered updates whose acknowledgement the owner hasn't written.
    let delivered: Set<Int64>
    /// The maximum number of updates in one commit.
    let maximumCommit: Int

    /// An upper limit for the number of updates that one commit settles.
    private static let maximumSettlement: Int64 = 2048

    /// Whether the numbers of a ledger are plausible enough to be used. Otherwise only the rows are used.
    static func trusts(_ counters: OutboxCounters) -> Bool {
        counters.isPlausible(upTo: OutboxCounters.Limit.repair)
    }

    /// Builds a new store next to the damaged one, which is only read.
    func build() throws(OutboxError) -> Result {
        var result = Result(salvaged: 0, lost: 0...0, foundLedger: false, repeated: 0, counters: OutboxCounters())
        try StoreBuilder.build(files, for: ownership) { builder throws(OutboxError) in
            let tables = try intactTables(builder)
            let copies = try copyLooseRows(into: builder, besides: tables)
            result = try countUpdates(tables, copies, builder)
            return result.counters
        }
        return result
    }

    /// Copies the rows of intact tables. Returns `nil` if the tables aren't intact, even at a second try: on a failing
    /// disk, a second read may succeed.
    private func intactTables(_ builder: StoreBuilder) throws(OutboxError) -> IntactTables? {
        if let tables = try IntactTables(files, known: known, into: builder) { return tables }
        try builder.removeAll()
        return try IntactTables(files, known: known, into: builder)
    }

    /// Copies the loose rows that aren't in the tables. Returns the copies of the ledger among the loose rows.
    private func copyLooseRows(
        into builder: StoreBuilder, besides tables: IntactTables?
    ) throws(OutboxError) -> LedgerCopies {
        var copies = LedgerCopies()
        for (path, limit) in [(files.path, Int64.max), (files.log, StoreFormat.maximumLogBytes)] {
            try RowScan.scan(path: path, on: files.disk, upTo: limit) { row throws(OutboxError) in
                if let copy = LedgerRecord(row) {
                    if !isUnknown(copy.counters.lastSequence), Self.trusts(copy.counters) { copies.add(copy) }
                } else if tables?.accounts(for: row) != true, !isUnknown(row.sequence),
                    UpdateRecord(row) != nil || QuarantinedUpdate(row) != nil
                {
                    try builder.insert(row)
                }
            }
        }
        return copies
    }

    /// Whether a sequence belongs to a failed commit: its update is still in memory, or wasn't accepted.
    private func isUnknown(_ sequence: Int64) -> Bool { known.map { sequence > $0.lastSequence } ?? false }

    /// Counts the salvaged and the missing updates, and drops the rows that are known to be settled.
    private func countUpdates(
        _ found: IntactTables?, _ copies: LedgerCopies, _ builder: StoreBuilder
    ) throws(OutboxError) -> Result {
        let counted = max(known?.lastSequence ?? 0, copies.newest?.counters.lastSequence ?? 0)
        try builder.renumber(beyond: OutboxCounters.Limit.repair, after: counted)
        let highest = try builder.highestSequence()
        let accepted = max(counted, highest)
        let tables = found.flatMap { isFollowed($0, by: copies, upTo: accepted) ? nil : $0 }
        let lastSequence = tables.map { max($0.lastSequence, highest) } ?? accepted
        let memory = known.map { LedgerRecord($0, oldestPending: 0) }
        let ledger = tables?.ledger ?? LedgerRecord.later(found?.ledger ?? memory, copies.newest)
        try builder.dropPending(ledger?.counters.newestDelivered)
        // The counters in memory don't include the oldest pending update.
        let oldestPending = tables == nil ? copies.newest?.oldestPending ?? 0 : 0
        try builder.dropSettled(before: oldestPending)

        let pending = try builder.countPending()
        // Negative if old copies of settled updates were found.
        let missing = ledger.map { lastSequence - $0.counters.settled - pending }
        // A later ledger than the one in memory has already counted the delivered updates.
        let isOfMemory = ledger.map { $0.counters.revision == known?.revision } ?? false
        let settled = isOfMemory ? try countDelivered(builder) : 0
        let minimumLost = max(0, (missing ?? 0) - settled)
        var maximumLost = minimumLost
        var repeated: Int64 = 0
        if let tables {
            repeated = max(0, (copies.newest?.counters.settled ?? 0) - tables.ledger.counters.settled)
        } else {
            let gaps = Self.gaps(
                ledger?.counters, oldestPending: oldestPending, lastSequence: lastSequence, pending: pending,
                quarantined: try builder.countQuarantined(from: oldestPending))
            let bound = max(0, missing ?? 0, Self.bound(gaps, ledger, missing, copies.earliest))
            // The number of updates that were accepted after the last one that left a trace.
            let later = lastSequence - max(try builder.highestSequence(), copies.newest?.counters.lastSequence ?? 0)
            maximumLost = max(minimumLost, max(bound, later) - settled)
            repeated = missing.map { min(pending, max(0, bound - $0)) } ?? 0
        }
        return Result(
            salvaged: pending, lost: minimumLost...maximumLost, foundLedger: ledger != nil, repeated: repeated,
            counters: try counters(
                ledger, pending: pending, lost: maximumLost, lastSequence: lastSequence, builder))
    }

    /// Whether loose rows or copies of the ledger are later than the tables by more than one commit. A single later
    /// commit is incomplete, or its page is damaged. Its ledger isn't trusted: ignoring it may repeat a delivery, but
    /// trusting it may hide a loss.
    private func isFollowed(_ tables: IntactTables, by copies: LedgerCopies, upTo accepted: Int64) -> Bool {
        let revision = copies.newest?.counters.revision ?? 0
        return accepted > tables.lastSequence + Int64(maximumCommit)
            || revision > tables.ledger.counters.revision + 1
    }

    /// Returns the number of delivered updates without a row.
    private func countDelivered(_ builder: StoreBuilder) throws(OutboxError) -> Int64 {
        var count: Int64 = 0
        for sequence in delivered where try !builder.rows.isPending(sequence) { count += 1 }
        return count
    }

    /// Returns the count of sequence numbers from the oldest pending one on that are neither pending nor in quarantine.
    /// This is the maximum loss. Most of these updates were settled, but it is unknown which ones.
    private static func gaps(
        _ ledger: OutboxCounters?, oldestPending: Int64, lastSequence: Int64, pending: Int64, quarantined: Int64
    ) -> Int64 {
        // While a backlog drains, the newest update is delivered before the others.
        let delivered: Int64 = ledger?.newestDelivered.map { $0.sequence >= oldestPending ? 1 : 0 } ?? 0
        return max(0, lastSequence - max(1, oldestPending) + 1 - pending - quarantined - delivered)
    }

    /// Returns `gaps`, or the number of updates that can have been settled since the earliest copy of the ledger if
    /// that is smaller.
    private static func bound(
        _ gaps: Int64, _ ledger: LedgerRecord?, _ missing: Int64?, _ earliest: LedgerRecord?
    ) -> Int64 {
        guard let missing, let settled = ledger?.counters.settled, let earliest = earliest?.counters.settled else {
            return gaps
        }
        return min(gaps, missing + max(0, settled - earliest) + maximumSettlement)
    }

    /// Returns counters that balance. Updates that aren't pending, evicted or quarantined are counted as delivered.
    private func counters(
        _ ledger: LedgerRecord?, pending: Int64, lost: Int64, lastSequence: Int64, _ builder: StoreBuilder
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
        // Old copies of settled updates may have been found, so that there are more rows than the ledger accounts for.
        // The surplus is subtracted from the counters in the order below, losses last.
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
