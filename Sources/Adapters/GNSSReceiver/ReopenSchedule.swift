/// When a line that is missing or lost is tried again: at once and often at first, for a re-plugged receiver should be
/// back before anyone notices; then ever more rarely, up to every 5 seconds, for ever.
struct ReopenSchedule: Sendable, Hashable {
    private static let usualDelays: [Duration] = [
        .milliseconds(250), .milliseconds(250), .milliseconds(250), .milliseconds(250), .milliseconds(500), .seconds(1),
        .seconds(2), .seconds(5),
    ]

    private let delays: [Duration]
    private var attempt = 0

    /// The last of `delays` is for all further attempts.
    init(delays: [Duration] = usualDelays) { self.delays = delays }

    /// The wait before the next attempt; each call counts as one.
    mutating func nextDelay() -> Duration {
        defer { attempt = min(attempt + 1, delays.count - 1) }
        return delays[attempt]
    }

    /// The line has proved itself: the next loss begins anew.
    mutating func reset() { attempt = 0 }
}
