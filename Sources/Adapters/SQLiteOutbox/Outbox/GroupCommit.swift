import Reporting

/// The accepted updates that will be written in the next commit, in order of acceptance. Their sequence numbers
/// continue from those on the disk.
struct GroupCommit: Sendable, Hashable {
    struct Element: Sendable, Hashable {
        let update: LocationUpdate
        /// Whether this update becomes the newest one even if an earlier update has a later time.
        let overrulesEarlier: Bool
        let isShapePoint: Bool
    }

    private(set) var elements: [Element] = []
    /// The time at which the first of the waiting updates was appended.
    private var firstAppendedAt = Duration.zero

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }

    mutating func append(_ added: [Element], at now: Duration) {
        if isEmpty { firstAppendedAt = now }
        elements += added
    }

    mutating func removeLast(_ count: Int) { elements.removeLast(min(count, elements.count)) }

    /// Removes the first `count` updates, which are now on the disk.
    mutating func removeFirst(_ count: Int) { elements.removeFirst(min(count, elements.count)) }

    /// Whether the updates must be committed before the next maintenance, which follows after `interval`.
    func isDue(_ durability: OutboxDurability, at now: Duration, nextMaintenanceAfter interval: Duration) -> Bool {
        guard let window = durability.window else { return count > 0 }
        return count >= window.updates || count > 0 && now - firstAppendedAt + interval >= window.span
    }

    func storedUpdates(after lastSequence: Int64) -> [StoredUpdate] {
        zip(1..., elements).map { StoredUpdate(sequence: lastSequence + $0, update: $1.update) }
    }

    /// Returns `counters` as they will be once these updates are on the disk.
    func countersAfterCommit(from counters: OutboxCounters) -> OutboxCounters {
        elements.reduce(into: counters) { sum, element in
            _ = sum.accept(element.update, overrulingEarlier: element.overrulesEarlier)
        }
    }
}

/// The durability of accepted updates. It decides whether an update is on the disk before it is accepted.
package enum OutboxDurability: String, Sendable, Hashable, CaseIterable {
    /// An update is accepted only after it has been committed.
    case full
    /// Several updates share one commit, within the limits of `window`. A crash may lose the updates that haven't been
    /// written yet.
    case economy

    /// The maximum loss in a crash. At most `updates` updates are lost, all of them accepted within the last `span`.
    package struct Window: Sendable, Hashable {
        package let updates: Int
        package let span: Duration
    }

    /// The maximum loss in a crash; `nil` if no accepted update can be lost.
    package var window: Window? { self == .full ? nil : Window(updates: 30, span: .seconds(60)) }

    /// The maximum number of updates in one commit.
    var maximumCommit: Int { (window?.updates ?? 1) + ShapePoints.maximumPoints }
}
