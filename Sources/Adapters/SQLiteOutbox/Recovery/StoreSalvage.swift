import Reporting

/// Recovers from a damaged store what can still be read, and accounts for the rest.
///
/// If SQLite finds the tables intact (a row, the log or the ledger is damaged), they say exactly what is pending, and
/// only what they cannot give is looked for as loose rows. Otherwise every loose row in database and log counts: some
/// may have been delivered, and are delivered again, which is better than one lost.
struct StoreSalvage {
    /// What was found.
    struct Result: Sendable, Hashable {
        let salvaged: Int64
        /// How many updates are missing that were pending: the ledger says how many there were, gaps how many there
        /// can have been. With intact tables the two are one.
        let lost: ClosedRange<Int64>
        let foundLedger: Bool
        /// How many of the salvaged updates may have been delivered before, as far as the ledger can say.
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
    /// What the owner has in memory, when damage is noticed while running.
    let known: OutboxCounters?
    /// The pending updates that are delivered, as the owner has in memory.
    let delivered: Set<Int64>
    /// Updates that one commit can hold.
    let maximumCommit: Int

    /// More updates than one commit settles.
    private static let longestSettlement: Int64 = 2048

    /// Whether a ledger's figures are taken over; without one the rows alone count.
    static func trusts(_ counters: OutboxCounters) -> Bool {
        counters.isPlausible(upTo: OutboxCounters.Limit.repair)
    }

    /// Builds a new store beside the damaged one, which is only read.
    func build() throws(OutboxError) -> Result {
        var result = Result(salvaged: 0, lost: 0...0, foundLedger: false, repeated: 0, counters: OutboxCounters())
        try StoreBuilder.build(files, for: ownership) { builder throws(OutboxError) in
            let tables = try intactTables(builder)
            let copies = try copyLooseRows(into: builder, besides: tables)
            result = try account(tables, copies, builder)
            return result.counters
        }
        return result
    }

    /// Read twice, as everything that may be damaged.
    private func intactTables(_ builder: StoreBuilder) throws(OutboxError) -> IntactTables? {
        if let tables = try IntactTables(files, known: known, into: builder) { return tables }
        try builder.empty()
        return try IntactTables(files, known: known, into: builder)
    }

    /// Copies what the tables do not give. Returns the copies of the ledger that are met.
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

    /// Whether a sequence is of a commit that failed: its updates are still in memory, or were not accepted.
    private func isUnknown(_ sequence: Int64) -> Bool { known.map { sequence > $0.lastSequence } ?? false }

    /// Counts what was found and what is missing, and drops the rows that are known to be settled.
    private func account(
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
        // What is in memory does not say.
        let oldestPending = tables == nil ? copies.newest?.oldestPending ?? 0 : 0
        try builder.dropSettled(before: oldestPending)

        let pending = try builder.countPending()
        // Negative when more was found than was pending: old copies of updates that are settled.
        let missing = ledger.map { lastSequence - $0.counters.settled - pending }
        // A later ledger than the one in memory has counted them already.
        let isOfMemory = ledger.map { $0.counters.revision == known?.revision } ?? false
        let settled = isOfMemory ? try countDelivered(builder) : 0
        let least = max(0, (missing ?? 0) - settled)
        var most = least
        var repeated: Int64 = 0
        if let tables {
            repeated = max(0, (copies.newest?.counters.settled ?? 0) - tables.ledger.counters.settled)
        } else {
            let gaps = Self.gaps(
                ledger?.counters, oldestPending: oldestPending, lastSequence: lastSequence, pending: pending,
                quarantined: try builder.countQuarantined(from: oldestPending))
            let bound = max(0, missing ?? 0, Self.bound(gaps, ledger, missing, copies.earliest))
            // Accepted after everything that is left.
            let behind = lastSequence - max(try builder.highestSequence(), copies.newest?.counters.lastSequence ?? 0)
            most = max(least, max(bound, behind) - settled)
            repeated = missing.map { min(pending, max(0, bound - $0)) } ?? 0
        }
        return Result(
            salvaged: pending, lost: least...most, foundLedger: ledger != nil, repeated: repeated,
            counters: try counters(
                ledger, pending: pending, lost: most, lastSequence: lastSequence, builder))
    }

    /// Whether loose rows or copies of the ledger are later than the tables. What is at most one commit later did not
    /// end, or its page is damaged. Its ledger is not trusted: without it a delivery may be repeated, with it a loss be
    /// hidden.
    private func isFollowed(_ tables: IntactTables, by copies: LedgerCopies, upTo accepted: Int64) -> Bool {
        let revision = copies.newest?.counters.revision ?? 0
        return accepted > tables.lastSequence + Int64(maximumCommit)
            || revision > tables.ledger.counters.revision + 1
    }

    /// How many of the delivered updates are gone.
    private func countDelivered(_ builder: StoreBuilder) throws(OutboxError) -> Int64 {
        var count: Int64 = 0
        for sequence in delivered where try !builder.rows.isPending(sequence) { count += 1 }
        return count
    }

    /// How many sequences since the oldest pending one are neither here nor in quarantine. No more can be lost; most
    /// of them are of updates that are settled, but nothing says of which.
    private static func gaps(
        _ ledger: OutboxCounters?, oldestPending: Int64, lastSequence: Int64, pending: Int64, quarantined: Int64
    ) -> Int64 {
        // While a backlog drains, the newest of all has gone before the rest.
        let delivered: Int64 = ledger?.newestDelivered.map { $0.sequence >= oldestPending ? 1 : 0 } ?? 0
        return max(0, lastSequence - max(1, oldestPending) + 1 - pending - quarantined - delivered)
    }

    /// The fewer of `gaps` and what can have been settled since the earliest copy of the ledger.
    private static func bound(
        _ gaps: Int64, _ ledger: LedgerRecord?, _ missing: Int64?, _ earliest: LedgerRecord?
    ) -> Int64 {
        guard let missing, let settled = ledger?.counters.settled, let earliest = earliest?.counters.settled else {
            return gaps
        }
        return min(gaps, missing + max(0, settled - earliest) + longestSettlement)
    }

    /// Counters that balance. What is not pending, evicted or in quarantine counts as delivered.
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
