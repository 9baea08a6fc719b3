/// Updates that the outbox has not accepted yet, with their shape points, in order. Pure.
struct UpdateQueue: Sendable {
    /// Updates for a single call of the outbox.
    struct Append: Sendable, Hashable {
        let points: [LocationUpdate]
        let last: LocationUpdate

        var all: [LocationUpdate] { points + [last] }
    }

    /// The maximum number of updates that are kept; the oldest are dropped.
    static let limit = 1024
    private static let perAppend = ShapePoints.most + 1

    /// The append that failed last. Its commit may be on the disk anyway, so it is repeated as it was: the outbox then
    /// knows its updates and does not accept them twice.
    private var failed: Append?
    /// The updates that were in no append yet, or not in the last one.
    private var updates: [LocationUpdate] = []
    /// Whether the outbox's newest update is wrong, and the outbox does not know it yet.
    private(set) var overrulesStored = false
    /// How often all earlier updates were found wrong.
    private(set) var generation = 0

    /// Whether there is none.
    var isEmpty: Bool { failed == nil && updates.isEmpty }

    /// Keeps `more`. Returns the number of updates that were dropped for lack of room.
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

    /// Removes and returns what the next append should store: what failed last, or else as many of the newest or the
    /// oldest as one append accepts; `nil` if there is nothing.
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

    /// Notes that all updates until now, stored or not, were wrong.
    mutating func overruleEarlier() {
        failed = nil
        updates = []
        overrulesStored = true
        generation += 1
    }

    /// Notes that the outbox has accepted an update of this `generation`, which overrules what it held.
    mutating func didOverrule(_ generation: Int) {
        if generation == self.generation { overrulesStored = false }
    }
}
