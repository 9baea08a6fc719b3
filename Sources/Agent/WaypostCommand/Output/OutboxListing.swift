import LocationReporting

/// `waypost outbox list --json`.
struct OutboxListing: Encodable {
    let path: String
    let accepted, delivered, pending, evicted, quarantined: Int64
    let evictedForSpace: Int64
    let lostToDamage: Int64
    let balances: Bool
    let quarantinedUpdates: [OutboxRow]

    init(path: String, ledger: Ledger, evictedForSpace: Int64, lostToDamage: Int64, quarantined: [OutboxRow]) {
        self.path = path
        accepted = ledger.accepted
        delivered = ledger.delivered
        pending = ledger.pending
        evicted = ledger.evicted
        self.quarantined = ledger.quarantined
        self.evictedForSpace = evictedForSpace
        self.lostToDamage = lostToDamage
        balances = ledger.balances
        quarantinedUpdates = quarantined
    }
}
