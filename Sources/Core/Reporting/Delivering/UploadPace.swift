/// The rule for how soon the next upload may follow the last one. The backlog is sent at its configured rate; after a
/// 429 all uploads are spaced further apart. This type does no I/O.
struct UploadPace: Sendable, Hashable {
    /// The interval after the first 429. It equals the minimum interval between a vehicle's updates.
    private static let firstInterval = Duration.seconds(5)
    /// The maximum interval: half of the 60 s within which Fleet Engine expects an update.
    static let maximumInterval = Duration.seconds(30)
    /// The minimum interval. A shorter one counts as zero.
    static let minimumInterval = Duration.seconds(1)

    private let backlogUpdatesPerSecond: Double?
    /// The minimum time from one upload to the next; zero unless the server has throttled uploads.
    private(set) var interval = Duration.zero
    private var backlogDueAt = Duration.zero
    /// The earliest time at which an upload may carry past locations, whether backlog or shape points.
    private var pastDueAt = Duration.zero
    /// The time when the last upload started, or when it was answered with 429.
    private var uploadedAt = Duration.zero

    /// - Parameter backlogUpdatesPerSecond: the rate at which a backlog is sent; `nil` sends it as fast as answers
    ///   arrive.
    init(backlogUpdatesPerSecond: Double?) { self.backlogUpdatesPerSecond = backlogUpdatesPerSecond }

    /// Records that an upload with `past` locations is starting. While the backlog waits, `past` counts only the shape
    /// points of the newest update, which don't affect the rate.
    mutating func willSend(past: Int, at now: Duration) {
        if let rate = backlogUpdatesPerSecond, past > 0, backlogDueAt <= now {
            backlogDueAt = now + .seconds(Double(past) / rate)
        }
        uploadedAt = now
    }

    /// Delays all past locations by `delay`, but not the newest position.
    mutating func delayPastLocations(for delay: Duration, at now: Duration) {
        pastDueAt = now + delay
        backlogDueAt = max(backlogDueAt, pastDueAt)
    }

    /// Records that the server has answered 429.
    mutating func didThrottle(at now: Duration) {
        interval = min(max(interval * 2, Self.firstInterval), Self.maximumInterval)
        uploadedAt = now
    }

    /// Records that the server has accepted an upload, and halves the interval. A 429 only doubles the interval, so an
    /// occasional 429 doesn't delay a backlog that the server accepts.
    mutating func didDeliver() {
        interval = interval / 2
        if interval < Self.minimumInterval { interval = .zero }
    }

    /// Returns the time until the next upload may start.
    func timeUntilUpload(at now: Duration) -> Duration {
        interval == .zero ? .zero : max(.zero, uploadedAt + interval - now)
    }

    /// Whether all past locations are being delayed, even shape points.
    func delaysPastLocations(at now: Duration) -> Bool { now < pastDueAt }

    /// Returns the time until an upload may carry the backlog.
    func timeUntilBacklog(at now: Duration) -> Duration { max(.zero, backlogDueAt - now) }
}
