/// When a line that is missing or lost is tried again: at once and often at first, for a re-plugged receiver should be
/// back before anyone notices; then ever more rarely, up to every 5 seconds, for ever.
struct ReopenSchedule: Sendable, Hashable {
    private static let delays: [Duration] = [
        .milliseconds(250), .milliseconds(250), .milliseconds(250), .milliseconds(250), .milliseconds(500), .seconds(1),
        .seconds(2), .seconds(5),
    ]

    private var attempt = 0

    /// The wait before the next attempt; each call counts as one.
    mutating func nextDelay() -> Duration {
        defer { attempt = min(attempt + 1, Self.delays.count - 1) }
        return Self.delays[attempt]
    }

    /// The line has proved itself: the next loss begins anew.
    mutating func reset() { attempt = 0 }
}
