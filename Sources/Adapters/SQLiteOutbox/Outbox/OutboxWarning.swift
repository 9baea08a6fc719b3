/// A state of the outbox that an operator should know of although updates are stored, most serious first.
package enum OutboxWarning: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// The outbox was older at the start than it had been: its log was removed, or an old copy restored.
    case olderStore
    /// The log was removed while the outbox was in use.
    case removedLog
    /// The log is longer than what is searched for updates.
    case longLog
    /// There is no reserve for a full disk.
    case noReserve
    /// Another program keeps the log from starting over.
    case pinnedLog

    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}
