/// Updates that the outbox did not accept, with their shape points, in order: kept in memory until it does. Pure.
struct UnstoredUpdates: Sendable {
    /// The number of updates that are kept; of more, the oldest give way.
    static let limit = 1024

    private var updates: [LocationUpdate] = []

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

    mutating func forget() { updates = [] }
}
