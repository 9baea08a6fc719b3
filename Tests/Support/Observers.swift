package import GNSS
import LinuxPlatform
import ReportedText
package import Reporting
import TimeAndRandomness

extension FixSourceError {
    /// The reason why the log can't be used; `nil` if a receiver's line failed.
    package var fault: LogFault? { if case .log(_, let fault) = reason { fault } else { nil } }
}

/// An observer that reads the events of a fix source one at a time.
package final class SourceObserver {
    private let events: AsyncStream<FixSourceEvent>
    /// Every event seen so far.
    package private(set) var seen: [FixSourceEvent] = []

    fileprivate init(_ events: AsyncStream<FixSourceEvent>) { self.events = events }

    /// Waits for the next event; `nil` once the source has ended.
    package func next() async -> FixSourceEvent? {
        var iterator = events.makeAsyncIterator()
        let event = await iterator.next()
        if let event { seen.append(event) }
        return event
    }

    /// Waits for a state whose description contains `text`; `nil` if the source ends first.
    @discardableResult
    package func state(saying text: String) async -> ReceiverState? {
        while let event = await next() {
            if case .state(let state) = event, "\(state)".contains(text) { return state }
        }
        return nil
    }

    /// Waits for the next fix; `nil` if the source ends first.
    package func fix() async -> Fix? {
        while let event = await next() {
            if case .fix(let fix) = event { return fix }
        }
        return nil
    }

    /// Waits for the next fix, and returns the second of its time; `nil` if the source ends first.
    package func second() async -> Int? { await fix().map { $0.timeOfFix.millisecondOfDay / 1000 % 60 } }

    /// The states seen so far, as text.
    package var states: [String] {
        seen.compactMap { event in
            if case .state(let state) = event { "\(state)" } else { nil }
        }
    }
}

/// Runs `source` during `body`, then cancels it and waits for its end.
///
/// - Returns: the error that the source threw.
@discardableResult
package func observe(
    _ source: any FixSource, _ body: (SourceObserver) async throws -> Void
) async rethrows -> FixSourceError? {
    let (events, sink) = AsyncStream.makeStream(of: FixSourceEvent.self, bufferingPolicy: .bufferingNewest(100_000))
    let running = Task { () -> FixSourceError? in
        defer { sink.finish() }
        do throws(FixSourceError) {
            try await source.run { event in sink.yield(event) }
            return nil
        } catch {
            return error
        }
    }
    defer { running.cancel() }
    try await body(SourceObserver(events))
    running.cancel()
    return await running.value
}

/// An observer that records all events, and lets a test wait for one of them.
package final class RecordingObserver: ReportingObserver {
    private let log = Locked([ReportingEvent]())
    private let announcer: AsyncStream<ReportingEvent>.Continuation
    /// The events, sent as they occur.
    package let stream: AsyncStream<ReportingEvent>

    package init() { (stream, announcer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(65_536)) }

    package var events: [ReportingEvent] { log.withLock { $0 } }

    package func observe(_ event: ReportingEvent) {
        log.withLock { $0.append(event) }
        announcer.yield(event)
    }
}
