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
        let place = setAside.map { "it was set aside as \($0)" } ?? "nothing was left of it"
        let count =
            lost.lowerBound == lost.upperBound ? "\(lost.upperBound)" : "\(lost.lowerBound) to \(lost.upperBound)"
        let doubt = foundLedger ? "" : "; its ledger was unreadable, so some of these may have been delivered"
        return "\(path) was damaged (\(reason)); \(place); \(salvaged) pending updates salvaged, "
            + "\(count) lost\(doubt). Check the disk if this comes again"
    }
}
