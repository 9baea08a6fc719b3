/// Updates that the outbox did not accept, with their shape points, in order: kept in memory until it does. Pure.
struct UnstoredUpdates: Sendable {
    /// One call of the outbox.
    struct Append: Sendable {
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

    mutating func keep(_ more: [LocationUpdate]) {
        updates = (updates + more).suffix(Self.limit - (failed?.all.count ?? 0))
    }

    /// Keeps an append that failed.
    mutating func keep(failed append: Append) {
        failed = append
        keep([])
    }

    /// Removes and returns the append that failed last; `nil` if there is none.
    mutating func takeFailed() -> Append? {
        defer { failed = nil }
        return failed
    }

    /// Removes and returns what the next append should store: what failed last, or the oldest; `nil` if there is none.
    mutating func takeNext() -> Append? { takeFailed() ?? take(updates.prefix(Self.perAppend)) }

    /// Removes and returns the newest, as many as one append accepts; `nil` if there is none.
    mutating func takeNewest() -> Append? { take(updates.suffix(Self.perAppend)) }

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
    }

    /// Notes that the outbox has accepted an update that overrules what it held.
    mutating func didOverrule() { overrulesStored = false }
}
