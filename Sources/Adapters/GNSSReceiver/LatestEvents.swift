import GNSS
import LocationReporting

/// What is kept for a consumer that is busy: the newest fix and the newest state, in the order in which they came.
struct LatestEvents: Sendable {
    private var fix: Fix?
    private var state: ReceiverState?
    private var isFixNewer = false

    mutating func put(_ newer: Fix) { (fix, isFixNewer) = (newer, true) }

    mutating func put(_ newer: ReceiverState) { (state, isFixNewer) = (newer, false) }

    /// Empties the store.
    mutating func take() -> [FixSourceEvent] {
        defer { (fix, state) = (nil, nil) }
        let events = [state.map(FixSourceEvent.state), fix.map(FixSourceEvent.fix)]
        return (isFixNewer ? events : events.reversed()).compactMap { $0 }
    }
}
