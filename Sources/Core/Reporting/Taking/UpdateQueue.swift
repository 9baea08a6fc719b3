/// The updates, in order and with their shape points, that the outbox has not accepted yet. This type does no I/O.
struct UpdateQueue: Sendable {
    /// The updates of a single call to the outbox.
    struct Append: Sendable, Hashable {
        let points: [LocationUpdate]
        let last: LocationUpdate

        var all: [LocationUpdate] { points + [last] }
    }

    /// The maximum number of updates in the queue. The oldest are dropped first.
    static let limit = 1024
    private static let perAppend = ShapePoints.maximumPoints + 1

    /// The last append, if it failed. Its commit may be on the disk anyway, so it is repeated unchanged: the outbox
    /// then recognises its updates and does not accept them twice.
    private var failed: Append?
    /// The updates that aren't part of an append.
    private var updates: [LocationUpdate] = []
    /// Whether the outbox's updates are wrong and the outbox has not been notified yet.
    private(set) var overrulesStored = false
    /// The number of times that all earlier updates were found wrong.
    private(set) var generation = 0

    /// Whether the queue has no updates.
    var isEmpty: Bool { failed == nil && updates.isEmpty }

    /// Adds `more`. Returns the number of updates that were dropped for lack of room.
    mutating func keep(_ more: [LocationUpdate]) -> Int {
        let all = updates + more
        updates = all.suffix(Self.limit - (failed?.all.count ?? 0))
        return all.count - updates.count
    }

    /// Keeps an append that failed. Returns the number of updates that were dropped for lack of room.
    mutating func keep(failed append: Append) -> Int {
        failed = append
        return keep([])
    }

    /// Removes and returns the next append: the failed one, or as many of the newest or oldest updates as fit into an
    /// append. Returns `nil` if the queue is empty.
    mutating func takeNext(withNewest: Bool) -> Append? {
        if let failed {
            self.failed = nil
            return failed
        }
        return take(withNewest ? updates.suffix(Self.perAppend) : updates.prefix(Self.perAppend))
    }

    private mutating func take(_ taken: ArraySlice<LocationUpdate>) -> Append? {
        guard let last = taken.last else { return nil }
        updates.removeSubrange(taken.indices)
        return Append(points: Array(taken.dropLast()), last: last)
    }

    /// Records that all updates until now, stored or not, were wrong.
    mutating func overruleEarlier() {
        failed = nil
        updates = []
        overrulesStored = true
        generation += 1
    }

    /// Records that the outbox has accepted an append of `generation` that overruled its earlier updates.
    mutating func didOverrule(_ generation: Int) {
        if generation == self.generation { overrulesStored = false }
    }
}
