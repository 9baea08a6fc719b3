import LinuxPlatform
import Reporting

/// Hands events from a receiver's thread to the task that delivers them; posting never waits.
final class EventMailbox: Sendable {
    private let latest = Locked(LatestEvents())
    private let alarm: AsyncStream<Void>.Continuation
    /// One element whenever there is something to take; ends after `close`, or when the task is cancelled.
    let arrivals: AsyncStream<Void>

    init() { (arrivals, alarm) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func post(_ event: FixSourceEvent) {
        latest.withLock { $0.put(event) }
        alarm.yield()
    }

    /// What has come since the last call, in order; at most one fix, one state, one sky and each kind of warning once.
    func take() -> [FixSourceEvent] { latest.withLock { $0.take() } }

    /// Nothing more will be posted; what is there can still be taken.
    func close() { alarm.finish() }
}

/// What is kept for a consumer that is busy: the newest fix and the newest state, in the order in which they came, the
/// newest sky, and each kind of warning once.
struct LatestEvents: Sendable {
    private var fix: FixSourceEvent?
    private var state: FixSourceEvent?
    private var isFixNewer = false
    private var sky: FixSourceEvent?
    private var warnings: [FixSourceEvent] = []

    mutating func put(_ event: FixSourceEvent) {
        switch event {
        case .fix:
            fix = event
            isFixNewer = true
        case .state:
            state = event
            isFixNewer = false
        case .sky: sky = event
        case .warning: if !warnings.contains(event) { warnings.append(event) }
        case .progress: break  // is of logs
        }
    }

    /// Empties the store.
    mutating func take() -> [FixSourceEvent] {
        defer {
            fix = nil
            state = nil
            sky = nil
            warnings = []
        }
        return warnings + ((isFixNewer ? [state, fix] : [fix, state]) + [sky]).compactMap(\.self)
    }
}
