import LinuxPlatform
package import LocationReporting

/// Remembers every event, and lets a test wait for one.
package final class RecordingObserver: ReportingObserver {
    private let log = Locked([ReportingEvent]())
    private let announcer: AsyncStream<ReportingEvent>.Continuation
    /// Every event as it happens.
    package let stream: AsyncStream<ReportingEvent>

    package init() { (stream, announcer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(65_536)) }

    package var events: [ReportingEvent] { log.withLock { $0 } }

    package func observe(_ event: ReportingEvent) {
        log.withLock { $0.append(event) }
        announcer.yield(event)
    }
}
