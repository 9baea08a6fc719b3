/// When accepted updates reach the disk.
package enum OutboxDurability: String, Sendable, Hashable, CaseIterable {
    /// Each with a commit of its own, before it counts.
    case full
    /// Several with one commit, within `window`: a crash may take those that it has not reached.
    case economy

    /// The most that a crash may take: so many updates, and none accepted longer ago than `span`.
    package struct Window: Sendable, Hashable {
        package let updates: Int
        package let span: Duration
    }

    /// `nil` when a crash takes nothing.
    package var window: Window? {
        switch self {
        case .full: nil
        case .economy: Window(updates: 30, span: .seconds(60))
        }
    }

    /// Whether `count` updates, the first of them accepted `age` ago, are to be written now, when the next look at
    /// them comes after `interval`.
    func isCommitDue(count: Int, age: Duration, nextLookAfter interval: Duration) -> Bool {
        guard let window else { return count > 0 }
        return count >= window.updates || count > 0 && age + interval >= window.span
    }
}
