import Reporting

/// The accepted updates that wait for a common commit, in order of acceptance. Their sequence numbers follow those on
/// the disk.
struct GroupCommit: Sendable, Hashable {
    struct Element: Sendable, Hashable {
        let update: LocationUpdate
        /// Whether the update becomes the newest one, whatever its time.
        let overrulesEarlier: Bool
        let isShapePoint: Bool
    }

    private(set) var elements: [Element] = []
    /// The time at which the first element was appended.
    private var since = Duration.zero

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }

    mutating func append(_ added: [Element], at now: Duration) {
        if isEmpty { since = now }
        elements += added
    }

    mutating func removeLast(_ count: Int) { elements.removeLast(min(count, elements.count)) }

    /// Removes the first `count` elements, which have reached the disk.
    mutating func removeFirst(_ count: Int) { elements.removeFirst(min(count, elements.count)) }

    /// Whether the commit is due, if the next maintenance comes after `interval`.
    func isDue(_ durability: OutboxDurability, at now: Duration, nextMaintenanceAfter interval: Duration) -> Bool {
        guard let window = durability.window else { return count > 0 }
        return count >= window.updates || count > 0 && now - since + interval >= window.span
    }

    func storedUpdates(after lastSequence: Int64) -> [StoredUpdate] {
        zip(1..., elements).map { StoredUpdate(sequence: lastSequence + $0, update: $1.update) }
    }

    /// Returns `counters` after accepting these updates.
    func added(to counters: OutboxCounters) -> OutboxCounters {
        elements.reduce(into: counters) { sum, element in
            _ = sum.accept(element.update, overrulingEarlier: element.overrulesEarlier)
        }
    }
}

/// The durability of accepted updates: when they reach the disk.
package enum OutboxDurability: String, Sendable, Hashable, CaseIterable {
    /// Each update is committed before it is accepted.
    case full
    /// Several updates share a commit, within `window`. A crash may lose updates that haven't been written yet.
    case economy

    /// The maximum loss in a crash: `updates` updates, all accepted within the last `span`.
    package struct Window: Sendable, Hashable {
        package let updates: Int
        package let span: Duration
    }

    /// The maximum loss in a crash; `nil` if a crash loses nothing.
    package var window: Window? { self == .full ? nil : Window(updates: 30, span: .seconds(60)) }

    /// The maximum number of updates in one commit.
    var maximumCommit: Int { (window?.updates ?? 1) + ShapePoints.maximumPoints }
}
