/// Why an accepted update was given up. The ledger's row holds a tally of each in this order: new ones go last.
package enum EvictionReason: String, Sendable, Hashable, CaseIterable {
    /// Near the byte cap, and what is left tells its place to within a stated bound.
    case thinned
    /// At the byte cap, where thinning frees no more.
    case oldest
    /// Older than `outbox.maximumAgeDays`, by the newest time of fix.
    case age
    /// Not found again after damage.
    case damage
    /// By an operator, out of quarantine.
    case discarded
}
