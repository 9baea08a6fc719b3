import LinuxPlatform
import LocationReporting

/// Keeps the decisions of a replay, in the words of a recording.
final class DecisionLog: ReportingObserver {
    private let clock: MonotonicClock
    private let state = Locked((words: FlightWords(), entries: [FlightEntry]()))

    init(clock: MonotonicClock) { self.clock = clock }

    var entries: [FlightEntry] { state.withLock { $0.entries } }

    func observe(_ event: ReportingEvent) {
        let now = clock.now.milliseconds
        state.withLock { state in
            if let entry = state.words.entry(for: event, at: now) { state.entries.append(entry) }
        }
    }
}
