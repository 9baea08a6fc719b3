package import LocationReporting

/// The account of a store, with reasons and times.
package struct StoreSummary: Sendable, Hashable {
    package var ledger: Ledger
    /// What was given up, by reason.
    package var evictions: Evictions
    /// Updates that Fleet Engine refuses for good.
    package var quarantined: UpdateTally
    package var newest: StoredUpdate?

    init(_ account: OutboxAccount) {
        (ledger, evictions) = (account.ledger, account.evictions)
        (quarantined, newest) = (account.quarantined, account.newest)
    }

    /// Of a ledger of which no more is known than its words.
    package init(_ ledger: Ledger, evictions: Evictions = Evictions()) {
        (self.ledger, self.evictions) = (ledger, evictions)
        quarantined = UpdateTally(count: ledger.quarantined)
    }
}
