/// How soon the next upload may follow the last: a backlog at its pace, everything wider apart after the server has
/// said that it is too much. Pure.
struct UploadPace: Sendable, Hashable {
    /// The first interval after a 429, the shortest at which a vehicle reports.
    private static let firstInterval = Duration.seconds(5)
    /// Well within the longest time without an update that Fleet Engine wants.
    static let longestInterval = Duration.seconds(30)
    /// Shorter intervals count as none.
    static let shortestInterval = Duration.seconds(1)

    private let backlogUpdatesPerSecond: Double?
    /// The least time from one upload to the next; zero unless the server has asked for less.
    private(set) var interval = Duration.zero
    private var backlogDueAt = Duration.zero
    private var uploadDueAt = Duration.zero

    /// `backlogUpdatesPerSecond`: `nil` sends a backlog as fast as answers come.
    init(backlogUpdatesPerSecond: Double?) { self.backlogUpdatesPerSecond = backlogUpdatesPerSecond }

    /// Notes that an upload with `past` locations goes out.
    mutating func willSend(past: Int, at now: Duration) {
        if let rate = backlogUpdatesPerSecond, past > 0 { backlogDueAt = now + .seconds(Double(past) / rate) }
        uploadDueAt = now + interval
    }

    /// Older positions wait for `delay`; the newest does not.
    mutating func holdBacklog(for delay: Duration, at now: Duration) {
        backlogDueAt = max(backlogDueAt, now + delay)
    }

    /// The server has answered 429.
    mutating func throttled(at now: Duration) {
        interval = min(max(interval * 2, Self.firstInterval), Self.longestInterval)
        uploadDueAt = max(uploadDueAt, now + interval)
    }

    /// The server has taken an upload: a tenth nearer to the usual interval.
    mutating func delivered() {
        interval = interval * 0.9
        if interval < Self.shortestInterval { interval = .zero }
    }

    /// How long until anything may go out.
    func timeToUpload(at now: Duration) -> Duration {
        interval == .zero ? .zero : max(.zero, uploadDueAt - now)
    }

    /// How long until older positions may.
    func timeToBacklog(at now: Duration) -> Duration { max(.zero, backlogDueAt - now) }
}
