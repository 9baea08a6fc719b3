/// The longest of a sequence in the sequence's order, in bounded memory however long the sequence is.
package struct LongestFew<Element: Sendable>: Sendable {
    private var entries: [(order: Int, weight: Duration, element: Element)] = []
    private let capacity: Int
    /// Everything that was added, kept or not.
    package private(set) var count = 0

    package init(capacity: Int) { self.capacity = capacity }

    /// Adds the next one, as long as `weight` says.
    package mutating func add(_ element: Element, weight: Duration) {
        entries.append((count, weight, element))
        count += 1
        if entries.count >= 2 * capacity { entries = longest(capacity) }
    }

    /// At most `count` of those that were kept, in the order in which they came.
    package func elements(atMost count: Int = .max) -> [Element] { longest(min(count, capacity)).map(\.element) }

    private func longest(_ count: Int) -> [(order: Int, weight: Duration, element: Element)] {
        guard entries.count > count else { return entries }
        return entries.sorted { ($1.weight, $0.order) < ($0.weight, $1.order) }.prefix(count)
            .sorted { $0.order < $1.order }
    }
}
