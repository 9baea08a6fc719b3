package import LocationReporting

/// The account of a store, with the reasons of what was given up.
package struct StoreSummary: Sendable, Hashable {
    package let ledger: Ledger
    /// Oldest updates that gave way near the byte cap.
    package let evictedForSpace: EvictionTally
    /// Updates that were not found again after damage.
    package let lostToDamage: EvictionTally
    package let newest: StoredUpdate?
}
