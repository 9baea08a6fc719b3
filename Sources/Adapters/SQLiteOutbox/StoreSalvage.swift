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
    }

    let files: StoreFiles
    /// The account that the owner has in memory, when damage is noticed while running.
    let known: OutboxAccount?

    /// Whether a sequence is of a commit that failed: its updates are in memory still, or were refused.
    private func isUnknown(_ sequence: Int64) -> Bool { known.map { sequence > $0.lastSequence } ?? false }

    /// Builds a new store beside the damaged one, which is only read.
    func build() throws(StoreError) -> Result {
        var result = Result(salvaged: 0, lost: 0...0, foundLedger: false)
        try StoreBuilder.build(files) { builder throws(StoreError) in
            let tree = try SoundTree(files, known: known, into: builder)
            var newestCopy: LedgerRecord?
            for path in [files.path, files.log] {
                try RecordScan.scan(path: path, on: files.disk) { found throws(StoreError) in
                    switch found {
                    case .update(let record, let bytes):
                        let sequence = record.stored.sequence
                        if let tree, sequence <= tree.lastSequence, !tree.unreadable.contains(sequence) { return }
                        if isUnknown(sequence) { return }
                        try builder.insertPending(bytes, sequence: sequence)
                    case .quarantined(let update, let bytes):
                        // An old copy of one that is pending again is worth nothing.
                        if tree != nil, try builder.isPending(update.stored.sequence) { return }
                        try builder.insertQuarantined(bytes, sequence: update.stored.sequence)
                    case .ledger(let candidate):
                        if isUnknown(candidate.account.lastSequence) { return }
                        newestCopy = LedgerRecord.later(newestCopy, candidate)
                    }
                }
            }
            let highest = max(try builder.rows.highestSequence(), try builder.highestQuarantined())
            let last = max(
                known?.lastSequence ?? 0, tree?.lastSequence ?? 0, newestCopy?.account.lastSequence ?? 0, highest)
            // Nothing was accepted after what the tree knows of. An account later than its own is of a commit that did
            // not end, or whose page is damaged: without it a delivery may be repeated, with it a loss be hidden.
            let present = tree.flatMap { $0.lastSequence == last ? $0 : nil }
            let ledger =
                present?.ledger
                ?? LedgerRecord.later(tree?.ledger ?? known.map { LedgerRecord($0, oldestPending: 0) }, newestCopy)
            // The account in memory does not tell it.
            let oldestPending = present == nil ? newestCopy?.oldestPending ?? 0 : 0
            try builder.dropSettled(before: oldestPending)

            let pending = try builder.countPending()
            var lost: ClosedRange<Int64>
            if let present {
                let missing = present.pending - pending
                lost = missing...missing
            } else {
                lost = Self.lost(
                    ledger: ledger, oldestPending: oldestPending, lastSequence: last, pending: pending,
                    quarantined: try builder.countQuarantined(from: oldestPending))
                // Accepted after everything that is left.
                let behind = last - max(highest, newestCopy?.account.lastSequence ?? 0)
                lost = lost.lowerBound...max(lost.upperBound, behind)
            }
            var account = Self.account(
                ledger?.account ?? OutboxAccount(), lastSequence: last, pending: pending, lost: lost.upperBound)
            account.newest = account.newestDelivered
            for record in try builder.rows.latest(limit: OutboxEngine.newestSearchLimit) {
                account.newest = OutboxAccount.newer(account.newest, record.stored)
            }
            result = Result(salvaged: pending, lost: lost, foundLedger: ledger != nil)
            return account
        }
        return result
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

    /// An account that balances. What is not pending, given up or in quarantine counts as delivered.
    static func account(
        _ ledger: OutboxAccount, lastSequence: Int64, pending: Int64, lost: Int64
    ) -> OutboxAccount {
        var account = ledger
        (account.lastSequence, account.pending) = (lastSequence, pending)
        account.evictions[.damage].count += lost
        account.delivered = 0
        account.delivered = max(0, account.ledger.accepted - account.ledger.total)
        // Rows from before the ledger's own time can be more than it has room for.
        var surplus = account.ledger.total - account.ledger.accepted
        func reduce(_ tally: inout UpdateTally) {
            let taken = max(0, min(surplus, tally.count))
            tally.count -= taken
            surplus -= taken
        }
        for reason in [.damage, .oldest, .thinned, .age, .discarded] as [EvictionReason] {
            reduce(&account.evictions[reason])
        }
        reduce(&account.quarantined)
        return account
    }
}

extension Ledger {
    /// What `accepted` has to be.
    fileprivate var total: Int64 { delivered + pending + evicted + quarantined }
}
