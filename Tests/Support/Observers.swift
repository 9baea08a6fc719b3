package import GNSS
import LinuxPlatform
import ReportedText
package import Reporting
import TimeAndChance

extension FixSourceError {
    /// Why the log can't be used; `nil` if a line failed.
    package var fault: LogFault? { if case .log(_, let fault) = reason { fault } else { nil } }
}

/// Looks at what a fix source delivers, one event at a time.
package final class SourceObserver {
    private let events: AsyncStream<FixSourceEvent>
    /// Every event seen so far.
    package private(set) var seen: [FixSourceEvent] = []

    fileprivate init(_ events: AsyncStream<FixSourceEvent>) { self.events = events }

    /// The next event; `nil` once the source has ended.
    package func next() async -> FixSourceEvent? {
        var iterator = events.makeAsyncIterator()
        let event = await iterator.next()
        if let event { seen.append(event) }
        return event
    }

    /// Waits for a state that says `words`; `nil` when the source ends before.
    @discardableResult
    package func state(saying words: String) async -> ReceiverState? {
        while let event = await next() {
            if case .state(let state) = event, "\(state)".contains(words) { return state }
        }
        return nil
    }

    /// Waits for the next fix; `nil` when the source ends before.
    package func fix() async -> Fix? {
        while let event = await next() {
            if case .fix(let fix) = event { return fix }
        }
        return nil
    }

    /// The second of the minute of the next fix; `nil` when the source ends before.
    package func second() async -> Int? { await fix().map { $0.timeOfFix.millisecondOfDay / 1000 % 60 } }

    /// The states seen so far, in the operator's words.
    package var states: [String] {
        seen.compactMap { event in
            if case .state(let state) = event { "\(state)" } else { nil }
        }
    }
}

/// Runs `source` while `body` looks at it, then cancels it and waits for its end.
///
/// - Returns: what the source threw.
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
