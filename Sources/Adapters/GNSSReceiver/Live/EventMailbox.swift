import GNSS
import LinuxPlatform
import LocationReporting

/// Hands events from a receiver's thread to the task that delivers them; posting never waits.
final class EventMailbox: Sendable {
    private let latest = Locked(LatestEvents())
    private let alarm: AsyncStream<Void>.Continuation
    /// One element whenever there is something to take; ends after `close`, or when the task is cancelled.
    let arrivals: AsyncStream<Void>

    init() { (arrivals, alarm) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func post(_ fix: Fix) {
        latest.withLock { $0.put(fix) }
        alarm.yield()
    }

    func post(_ state: ReceiverState) {
        latest.withLock { $0.put(state) }
        alarm.yield()
    }

    func post(_ warning: ReceiverWarning) {
        latest.withLock { $0.put(warning) }
        alarm.yield()
    }

    /// What has come since the last call, in order; at most one fix, one state and each kind of warning once.
    func take() -> [FixSourceEvent] { latest.withLock { $0.take() } }

    /// Nothing more will be posted; what is there can still be taken.
    func close() { alarm.finish() }
}

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
