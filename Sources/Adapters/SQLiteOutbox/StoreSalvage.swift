import LinuxPlatform
import LocationReporting

/// Gets out of a damaged store what can still be read, and accounts for the rest.
struct StoreSalvage {
    /// What was found.
    struct Result: Sendable, Hashable {
        let salvaged: Int64
        let lost: Int64
        /// Whether a ledger was found; without one nobody knows what had been delivered.
        let foundLedger: Bool
    }

    let files: StoreFiles
    /// The account that the owner has in memory, when damage is noticed while running.
    let known: OutboxAccount?

    /// Builds a new store beside the damaged one, which is only read.
    func build() throws(StoreError) -> Result {
        var result = Result(salvaged: 0, lost: 0, foundLedger: false)
        try StoreBuilder.build(files) { builder throws(StoreError) in
            var ledger = known.map { LedgerRecord($0, oldestPending: 0) }
            var oldestPending: Int64 = 0
            for path in [files.path, files.log] {
                try RecordScan.scan(path: path) { found throws(StoreError) in
                    switch found {
                    case .update(let record, let bytes):
                        try builder.insertPending(bytes, sequence: record.stored.sequence)
                    case .quarantined(let update, let bytes):
                        try builder.insertQuarantined(bytes, sequence: update.stored.sequence)
                    case .ledger(let candidate):
                        oldestPending = max(oldestPending, candidate.oldestPending)
                        if ledger.map({ $0.age < candidate.age }) ?? true { ledger = candidate }
                    }
                }
            }
            try builder.dropSettled(before: oldestPending)
            let pending = try builder.countPending()
            let highest = max(try builder.rows.highestSequence(), try builder.highestQuarantined())
            let (account, lost) = Self.account(ledger?.account, pending: pending, highestSequence: highest)
            result = Result(salvaged: pending, lost: lost, foundLedger: ledger != nil)
            var complete = account
            complete.newest = account.newestDelivered
            for record in try builder.rows.latest(limit: OutboxEngine.newestSearchLimit) {
                complete.newest = OutboxAccount.newer(complete.newest, record.stored)
            }
            return complete
        }
        return result
    }

    /// An account that balances with the `pending` rows found, and how many updates are missing.
    ///
    /// Rows found again although an older ledger has them delivered are pending again: a repeat, never a loss.
    static func account(
        _ ledger: OutboxAccount?, pending: Int64, highestSequence: Int64
    ) -> (account: OutboxAccount, lost: Int64) {
        var account = ledger ?? OutboxAccount()
        account.lastSequence = max(account.lastSequence, highestSequence, account.newestDelivered?.sequence ?? 0)
        account.pending = pending
        let missing =
            account.lastSequence - account.ledger.delivered - account.ledger.evicted
            - account.ledger.quarantined - pending
        guard missing < 0 else {
            account.lostToDamage.count += missing
            return (account, missing)
        }
        var surplus = -missing
        for path in [\OutboxAccount.delivered, \.lostToDamage.count, \.evictedForSpace.count, \.quarantined] {
            let taken = min(surplus, account[keyPath: path])
            account[keyPath: path] -= taken
            surplus -= taken
        }
        return (account, 0)
    }
}
