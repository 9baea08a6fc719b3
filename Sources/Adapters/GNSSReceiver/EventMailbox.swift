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
