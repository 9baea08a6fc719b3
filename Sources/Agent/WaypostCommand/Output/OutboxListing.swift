import GNSS
import LocationReporting

/// `waypost outbox list --json`.
struct OutboxListing: Encodable {
    let path: String
    let accepted, delivered, pending, evicted, quarantined: Int64
    let evictedForSpace: Int64
    let lostToDamage: Int64
    let balances: Bool
    let oldestPendingTime: String?
    let newestTime: String?
    let quarantinedUpdates: [OutboxRow]

    init(
        path: String, ledger: Ledger, evictedForSpace: Int64, lostToDamage: Int64, oldestPending: StoredUpdate?,
        newest: StoredUpdate?, quarantined: [OutboxRow]
    ) {
        self.path = path
        accepted = ledger.accepted
        delivered = ledger.delivered
        pending = ledger.pending
        evicted = ledger.evicted
        self.quarantined = ledger.quarantined
        self.evictedForSpace = evictedForSpace
        self.lostToDamage = lostToDamage
        balances = ledger.balances
        oldestPendingTime = oldestPending?.update.timeOfFix.description
        newestTime = newest?.update.timeOfFix.description
        quarantinedUpdates = quarantined
    }
}
