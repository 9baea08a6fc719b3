/// Updates that the outbox did not accept, with their shape points, in order: kept in memory until it does. Pure.
struct UnstoredUpdates: Sendable {
    /// The number of updates that are kept; of more, the oldest give way.
    static let limit = 1024

    private var updates: [LocationUpdate] = []
    /// Whether what the outbox took for the newest is wrong, and it could not be told so yet.
    private(set) var overrulesStored = false

    mutating func keep(_ more: [LocationUpdate]) { updates = (updates + more).suffix(Self.limit) }

    /// Removes and returns the oldest, as many as one append accepts; `nil` when there is none.
    mutating func takeOldest() -> (points: [LocationUpdate], last: LocationUpdate)? {
        let taken = Array(updates.prefix(ShapePoints.most + 1))
        guard let last = taken.last else { return nil }
        updates.removeFirst(taken.count)
        return (taken.dropLast(), last)
    }

    /// Removes and returns the newest, at most `count`.
    mutating func takeNewest(_ count: Int) -> [LocationUpdate] {
        let taken = Array(updates.suffix(count))
        updates.removeLast(taken.count)
        return taken
    }

    mutating func putBack(_ taken: [LocationUpdate]) { updates = (taken + updates).suffix(Self.limit) }

    /// Notes that all updates until now, stored or not, were wrong.
    mutating func overruleEarlier() { (updates, overrulesStored) = ([], true) }

    /// Notes that the outbox has accepted one that overrules what it held.
    mutating func didOverrule() { overrulesStored = false }
}
