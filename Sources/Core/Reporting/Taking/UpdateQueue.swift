/// The updates that the outbox has not accepted yet, in order and with their shape points. This type does no I/O.
struct UpdateQueue: Sendable {
    /// The updates of a single call to the outbox.
    struct Append: Sendable, Hashable {
        let points: [LocationUpdate]
        let last: LocationUpdate

        var all: [LocationUpdate] { points + [last] }
    }

    /// The maximum number of updates in the queue. The oldest are dropped first.
    static let maximumUpdates = 1024
    private static let maximumUpdatesPerAppend = ShapePoints.maximumPoints + 1

    /// The last append if it failed; otherwise `nil`. It may have been committed to the disk anyway, so it is repeated
    /// unchanged. The outbox then recognises the updates and doesn't accept them twice.
    private var failedAppend: Append?
    /// The updates that aren't part of an append yet.
    private var updates: [LocationUpdate] = []
    /// Whether the updates in the outbox are wrong, but the outbox has not been notified yet.
    private(set) var overrulesStored = false
    /// The number of times that all earlier updates were found wrong. Updates of an earlier generation must no longer
    /// be stored.
    private(set) var generation = 0

    /// Whether the queue contains no updates.
    var isEmpty: Bool { failedAppend == nil && updates.isEmpty }

    var count: Int { (failedAppend?.all.count ?? 0) + updates.count }

    /// Adds updates. Returns the number of updates that were dropped for lack of room.
    mutating func add(_ more: [LocationUpdate]) -> Int {
        let all = updates + more
        updates = all.suffix(Self.maximumUpdates - (failedAppend?.all.count ?? 0))
        return all.count - updates.count
    }

    /// Restores an append that failed. Returns the number of updates that were dropped for lack of room.
    mutating func restore(failed append: Append) -> Int {
        failedAppend = append
        return add([])
    }

    /// Removes and returns the next append; `nil` if the queue is empty. A failed append comes first. Otherwise the
    /// append has as many updates as fit, the newest ones if `withNewest` is true, or else the oldest.
    mutating func takeNext(withNewest: Bool) -> Append? {
        if let failedAppend {
            self.failedAppend = nil
            return failedAppend
        }
        return removeAppend(
            of: withNewest ? updates.suffix(Self.maximumUpdatesPerAppend) : updates.prefix(Self.maximumUpdatesPerAppend)
        )
    }

    private mutating func removeAppend(of taken: ArraySlice<LocationUpdate>) -> Append? {
        guard let last = taken.last else { return nil }
        updates.removeSubrange(taken.indices)
        return Append(points: Array(taken.dropLast()), last: last)
    }

    /// Records that all updates until now, stored or not, were wrong.
    mutating func overruleEarlier() {
        failedAppend = nil
        updates = []
        overrulesStored = true
        generation += 1
    }

    /// Records that the outbox has accepted an append that overrules all of its earlier updates. `generation` is the
    /// append's generation. If it is outdated, the call has no effect.
    mutating func didOverrule(generation: Int) {
        if generation == self.generation { overrulesStored = false }
    }
}
