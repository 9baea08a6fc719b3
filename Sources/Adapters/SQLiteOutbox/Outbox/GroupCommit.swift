import Reporting

/// Updates that are accepted and wait for the commit that they share, in order; their sequences follow those on the
/// disk.
struct GroupCommit: Sendable, Hashable {
    struct Element: Sendable, Hashable {
        let update: LocationUpdate
        /// Whether it is the newest whatever its time.
        let overrulesEarlier: Bool
        let isShapePoint: Bool
    }

    private(set) var elements: [Element] = []
    /// When the first of them came.
    private var since = Duration.zero

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }

    mutating func append(_ added: [Element], at now: Duration) {
        if isEmpty { since = now }
        elements += added
    }

    mutating func removeLast(_ count: Int) { elements.removeLast(min(count, elements.count)) }

    /// Forgets the first `count`, which are on the disk.
    mutating func removeFirst(_ count: Int) { elements.removeFirst(min(count, elements.count)) }

    /// Whether they are to be written now, when the next maintenance comes after `interval`.
    func isDue(_ durability: OutboxDurability, at now: Duration, nextMaintenanceAfter interval: Duration) -> Bool {
        guard let window = durability.window else { return count > 0 }
        return count >= window.updates || count > 0 && now - since + interval >= window.span
    }

    func stored(after lastSequence: Int64) -> [StoredUpdate] {
        zip(1..., elements).map { StoredUpdate(sequence: lastSequence + $0, update: $1.update) }
    }

    /// What `counters` will be once they are written.
    func added(to counters: OutboxCounters) -> OutboxCounters {
        elements.reduce(into: counters) { sum, element in
            _ = sum.accept(element.update, overrulingEarlier: element.overrulesEarlier)
        }
    }
}

/// When accepted updates reach the disk.
package enum OutboxDurability: String, Sendable, Hashable, CaseIterable {
    /// Each with a commit of its own, before it counts.
    case full
    /// Several with one commit, within `window`: a crash may lose those that are not written yet.
    case economy

    /// The most that a crash may lose: so many updates, and none accepted longer ago than `span`.
    package struct Window: Sendable, Hashable {
        package let updates: Int
        package let span: Duration
    }

    /// `nil` when a crash loses nothing.
    package var window: Window? { self == .full ? nil : Window(updates: 30, span: .seconds(60)) }

    /// Updates that one commit can hold.
    var longestCommit: Int { (window?.updates ?? 1) + ShapePoints.maximumPoints }
}
