import LinuxPlatform
import LocationReporting

/// Gets out of a damaged store what can still be read, and accounts for the rest.
///
/// While the tree is sound (a row's body, the log or the ledger is damaged) it says exactly what is pending, and only
/// what it cannot give is looked for as loose records. Otherwise every loose record in database and log counts: some
/// may have been delivered, and are delivered again, which is better than one lost.
struct StoreSalvage {
    /// What was found.
    struct Result: Sendable, Hashable {
        let salvaged: Int64
        /// How many updates are missing that were pending: the ledger tells how many there were, gaps how many there
        /// can have been. The two are one where the tree is sound.
        let lost: ClosedRange<Int64>
        let foundLedger: Bool
        /// Of the new store.
        fileprivate(set) var account = OutboxAccount()
    }

    let files: StoreFiles
    let ownership: StoreOwnership?
    /// The account that the owner has in memory, when damage is noticed while running.
    let known: OutboxAccount?

    /// Of the pending updates those that are delivered, as the owner has in memory.
    let delivered: Set<Int64>
    /// Updates that one commit can hold.
    let longestCommit: Int

    /// Whether a ledger's figures are taken over; without one the rows alone count.
    static func believes(_ account: OutboxAccount) -> Bool { account.isPlausible(upTo: OutboxAccount.Limit.repair) }

    /// Whether a sequence is of a commit that failed: its updates are in memory still, or were refused.
    private func isUnknown(_ sequence: Int64) -> Bool { known.map { sequence > $0.lastSequence } ?? false }

    /// Builds a new store beside the damaged one, which is only read.
    func build() throws(StoreError) -> Result {
        var result = Result(salvaged: 0, lost: 0...0, foundLedger: false)
        try StoreBuilder.build(files, for: ownership) { builder throws(StoreError) in
            let tree = try soundTree(builder)
            let newestCopy = try takeLooseRecords(builder, tree)
            let least = max(known?.lastSequence ?? 0, newestCopy?.account.lastSequence ?? 0)
            try builder.renumber(beyond: OutboxAccount.Limit.repair, after: least)
            let highest = try builder.highestSequence()
            var last = max(least, highest)
            let ledger: LedgerRecord?
            // What is at most one commit later than the tree did not end, or its page is damaged. Its account is not
            // believed: without it a delivery may be repeated, with it a loss be hidden.
            if let tree, last <= tree.lastSequence + Int64(longestCommit),
                newestCopy.map({ $0.account.revision <= tree.ledger.account.revision + 1 }) ?? true
            {
                (ledger, last) = (tree.ledger, max(tree.lastSequence, highest))
                result = try judge(builder, tree)
            } else {
                let memory = known.map { LedgerRecord($0, oldestPending: 0) }
                ledger = LedgerRecord.later(tree?.ledger ?? memory, newestCopy)
                result = try judge(builder, ledger, newestCopy, lastSequence: last)
            }
            result.account = try account(ledger, result, lastSequence: last, builder)
            return result.account
        }
        return result
    }

    /// Looked at twice, as everything that may be damaged.
    private func soundTree(_ builder: StoreBuilder) throws(StoreError) -> SoundTree? {
        if let tree = try SoundTree(files, known: known, into: builder) { return tree }
        try builder.empty()
        return try SoundTree(files, known: known, into: builder)
    }

    /// Takes over what the tree does not give; answers the latest account that lies about.
    private func takeLooseRecords(_ builder: StoreBuilder, _ tree: SoundTree?) throws(StoreError) -> LedgerRecord? {
        var newestCopy: LedgerRecord?
        for (path, limit) in [(files.path, Int64.max), (files.log, StoreFormat.longestLog)] {
            try RecordScan.scan(path: path, on: files.disk, upTo: limit) { found throws(StoreError) in
                switch found {
                case .update(let record, let bytes):
                    let sequence = record.stored.sequence
                    if let tree, sequence <= tree.lastSequence, !tree.unreadable.contains(sequence) { return }
                    if isUnknown(sequence) { return }
                    try builder.insertPending(bytes, sequence: sequence)
                case .quarantined(let update, let bytes):
                    let sequence = update.stored.sequence
                    // An old copy of one that has left the quarantine is worth nothing.
                    if let tree, sequence <= tree.lastSequence, !tree.unreadableQuarantined.contains(sequence) {
                        return
                    }
                    if isUnknown(sequence) { return }
                    try builder.insertQuarantined(bytes, sequence: sequence)
                case .ledger(let candidate):
                    if isUnknown(candidate.account.lastSequence) || !Self.believes(candidate.account) { return }
                    newestCopy = LedgerRecord.later(newestCopy, candidate)
                }
            }
        }
        return newestCopy
    }

    /// What is missing of what a sound tree says is there.
    private func judge(_ builder: StoreBuilder, _ tree: SoundTree) throws(StoreError) -> Result {
        try builder.dropSettled(before: 0)
        let later = max(0, try builder.rows.highestSequence() - tree.lastSequence)
        let pending = try builder.countPending()
        let missing = tree.pending + later - pending - (try countDelivered(among: tree.unreadable, builder))
        return Result(salvaged: pending, lost: missing...missing, foundLedger: true)
    }

    /// What is missing where only loose records tell.
    private func judge(
        _ builder: StoreBuilder, _ ledger: LedgerRecord?, _ newestCopy: LedgerRecord?, lastSequence: Int64
    ) throws(StoreError) -> Result {
        // The account in memory does not tell it.
        let oldestPending = newestCopy?.oldestPending ?? 0
        try builder.dropSettled(before: oldestPending)
        let pending = try builder.countPending()
        let lost = Self.lost(
            ledger: ledger, oldestPending: oldestPending, lastSequence: lastSequence, pending: pending,
            quarantined: try builder.countQuarantined(from: oldestPending))
        // Accepted after everything that is left.
        let behind = lastSequence - max(try builder.highestSequence(), newestCopy?.account.lastSequence ?? 0)
        // A later account than the one in memory has counted them already.
        let isOfMemory = ledger.map { $0.account.revision == known?.revision } ?? false
        let delivered = isOfMemory ? try countDelivered(among: delivered, builder) : 0
        let least = max(0, lost.lowerBound - delivered)
        return Result(
            salvaged: pending, lost: least...max(least, max(lost.upperBound, behind) - delivered),
            foundLedger: ledger != nil)
    }

    /// How many of `sequences` are gone and were delivered, as the owner knows.
    private func countDelivered(
        among sequences: Set<Int64>, _ builder: StoreBuilder
    ) throws(StoreError) -> Int64 {
        var count: Int64 = 0
        for sequence in sequences.intersection(delivered) where try !builder.isPending(sequence) { count += 1 }
        return count
    }

    private func account(
        _ ledger: LedgerRecord?, _ result: Result, lastSequence: Int64, _ builder: StoreBuilder
    ) throws(StoreError) -> OutboxAccount {
        var account = Self.account(
            ledger?.account ?? OutboxAccount(), lastSequence: lastSequence, pending: result.salvaged,
            quarantined: try builder.countQuarantined(from: 0), lost: result.lost.upperBound)
        account.newest = account.newestDelivered
        for record in try builder.rows.latest(limit: OutboxEngine.newestSearchLimit) {
            account.newest = OutboxAccount.newer(account.newest, record.stored)
        }
        return account
    }

    /// How many updates are missing: at least those that the ledger has more than were found, at most every sequence
    /// since the oldest pending one that is neither here nor in quarantine.
    static func lost(
        ledger: LedgerRecord?, oldestPending: Int64, lastSequence: Int64, pending: Int64, quarantined: Int64
    ) -> ClosedRange<Int64> {
        // While a backlog drains, the newest of all has gone before the rest.
        let delivered: Int64 = ledger?.account.newestDelivered.map { $0.sequence >= oldestPending ? 1 : 0 } ?? 0
        let gaps = max(0, lastSequence - max(1, oldestPending) + 1 - pending - quarantined - delivered)
        guard let settled = ledger?.account.ledger else { return 0...gaps }
        let missing = max(0, lastSequence - settled.delivered - settled.evicted - settled.quarantined - pending)
        // Thinning leaves gaps that are accounted for.
        let thinned = ledger?.account.evictions[.thinned].count ?? 0
        return missing...max(missing, gaps - thinned)
    }

    /// An account that balances. What is not pending, given up or in quarantine counts as delivered; `quarantined` are
    /// the rows that were found of those, at least.
    static func account(
        _ ledger: OutboxAccount, lastSequence: Int64, pending: Int64, quarantined: Int64, lost: Int64
    ) -> OutboxAccount {
        var account = ledger
        (account.lastSequence, account.pending) = (lastSequence, pending)
        account.quarantined.count = max(account.quarantined.count, quarantined)
        account.evictions[.damage].count += lost
        account.delivered = 0
        account.delivered = max(0, account.ledger.accepted - account.ledger.total)
        // Old copies may be pending again, and rows from before the ledger's own time more than it has room for: then
        // what they were counted as gives way, a loss last.
        var surplus = account.ledger.total - account.ledger.accepted
        func reduce(_ tally: inout UpdateTally, to least: Int64 = 0) {
            let taken = max(0, min(surplus, tally.count - least))
            tally.count -= taken
            surplus -= taken
        }
        reduce(&account.quarantined, to: quarantined)
        for reason in [.discarded, .age, .thinned, .oldest, .damage] as [EvictionReason] {
            reduce(&account.evictions[reason])
        }
        return account
    }
}

extension Ledger {
    /// What `accepted` has to be.
    fileprivate var total: Int64 { delivered + pending + evicted + quarantined }
}

/// What became of a damaged store: told to the operator, counted in the ledger.
package struct StoreRecovery: Sendable, Hashable, CustomStringConvertible {
    /// The store that was damaged.
    package let path: String
    /// What was wrong with it.
    package let reason: String
    /// Where the damaged files are now; `nil` when there was nothing left to be set aside.
    package let setAside: String?
    /// Updates that wait again for delivery.
    package let salvaged: Int64
    /// Updates that were pending and are not found again, at least and at most. The ledger counts the most as evicted,
    /// so that no loss is hidden; some of these may have been delivered before.
    package let lost: ClosedRange<Int64>
    /// Whether the damaged store still told what had been delivered.
    package let foundLedger: Bool

    package var description: String {
        let place = setAside.map { "it was renamed to \($0)" } ?? "nothing was left of it"
        let count =
            lost.lowerBound == lost.upperBound ? "\(lost.upperBound)" : "\(lost.lowerBound) to \(lost.upperBound)"
        let doubt = foundLedger ? "" : "; its ledger was unreadable, so some of these may have been delivered"
        return "\(path) was damaged (\(reason)); \(place); \(salvaged) pending updates salvaged, "
            + "\(count) lost\(doubt). Check the disk if this comes again"
    }
}
