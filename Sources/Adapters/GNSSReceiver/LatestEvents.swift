import GNSS
import LocationReporting

/// What is kept for a consumer that is busy: the newest fix and the newest state, in the order in which they came, and
/// each kind of warning once.
struct LatestEvents: Sendable {
    private var fix: Fix?
    private var state: ReceiverState?
    private var isFixNewer = false
    private var warnings: [ReceiverWarning] = []

    mutating func put(_ newer: Fix) { (fix, isFixNewer) = (newer, true) }

    mutating func put(_ newer: ReceiverState) { (state, isFixNewer) = (newer, false) }

    mutating func put(_ warning: ReceiverWarning) {
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    /// Empties the store.
    mutating func take() -> [FixSourceEvent] {
        defer { (fix, state, warnings) = (nil, nil, []) }
        let events = [state.map(FixSourceEvent.state), fix.map(FixSourceEvent.fix)]
        return warnings.map(FixSourceEvent.warning) + (isFixNewer ? events : events.reversed()).compactMap { $0 }
    }
}
