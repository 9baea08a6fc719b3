import LinuxPlatform
import Reporting

/// A mailbox that passes events from a receiver's thread to the task that delivers them. Posting never blocks.
final class EventMailbox: Sendable {
    private let latest = Locked(LatestEvents())
    private let continuation: AsyncStream<Void>.Continuation
    /// A stream that yields when there are events to take. It ends after `close`, or when the task is cancelled.
    let arrivals: AsyncStream<Void>

    init() { (arrivals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func post(_ event: FixSourceEvent) {
        latest.withLock { $0.add(event) }
        continuation.yield()
    }

    /// Returns the events that have been kept since the last call; see `LatestEvents`.
    func takeEvents() -> [FixSourceEvent] { latest.withLock { $0.takeEvents() } }

    /// Ends `arrivals`. Posted events can still be taken.
    func close() { continuation.finish() }
}

/// The events that are kept until the consumer takes them: the newest fix and the newest state in order of arrival, the
/// newest sky, and each kind of warning once.
struct LatestEvents: Sendable {
    private var fix: FixSourceEvent?
    private var state: FixSourceEvent?
    private var isFixNewer = false
    private var sky: FixSourceEvent?
    private var warnings: [FixSourceEvent] = []

    mutating func add(_ event: FixSourceEvent) {
        switch event {
        case .fix:
            fix = event
            isFixNewer = true
        case .state:
            state = event
            isFixNewer = false
        case .sky: sky = event
        case .warning: if !warnings.contains(event) { warnings.append(event) }
        case .progress: break  // only logs have progress
        }
    }

    mutating func takeEvents() -> [FixSourceEvent] {
        defer {
            fix = nil
            state = nil
            sky = nil
            warnings = []
        }
        return warnings + ((isFixNewer ? [state, fix] : [fix, state]) + [sky]).compactMap(\.self)
    }
}
