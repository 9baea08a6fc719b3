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
    /// Until when shape points wait as well.
    private var pastDueAt = Duration.zero
    /// When an upload went out last, or was answered with 429.
    private var uploadedAt = Duration.zero

    /// `backlogUpdatesPerSecond`: `nil` sends a backlog as fast as answers come.
    init(backlogUpdatesPerSecond: Double?) { self.backlogUpdatesPerSecond = backlogUpdatesPerSecond }

    /// Notes that an upload with `past` locations goes out. While the backlog waits, these are the shape points of the
    /// newest, which do not count.
    mutating func willSend(past: Int, at now: Duration) {
        if let rate = backlogUpdatesPerSecond, past > 0, backlogDueAt <= now {
            backlogDueAt = now + .seconds(Double(past) / rate)
        }
        uploadedAt = now
    }

    /// All older positions wait for `delay`; the newest does not.
    mutating func holdPast(for delay: Duration, at now: Duration) {
        pastDueAt = now + delay
        backlogDueAt = max(backlogDueAt, pastDueAt)
    }

    /// The server has answered 429.
    mutating func throttled(at now: Duration) {
        interval = min(max(interval * 2, Self.firstInterval), Self.longestInterval)
        uploadedAt = now
    }

    /// The server has taken an upload: as much nearer to the usual interval as a 429 leads away from it, so that a few
    /// among many answers do not keep a backlog waiting that the server takes.
    mutating func delivered() {
        interval = interval / 2
        if interval < Self.shortestInterval { interval = .zero }
    }

    /// How long until anything may go out.
    func timeToUpload(at now: Duration) -> Duration {
        interval == .zero ? .zero : max(.zero, uploadedAt + interval - now)
    }

    /// Whether not even shape points may.
    func holdsPast(at now: Duration) -> Bool { now < pastDueAt }

    /// How long until the backlog may.
    func timeToBacklog(at now: Duration) -> Duration { max(.zero, backlogDueAt - now) }
}
