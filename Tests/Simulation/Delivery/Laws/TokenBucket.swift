/// A rate limit: bursts up to `capacity`, and one event per `interval` in the long run.
struct TokenBucket {
    let capacity: Double
    let interval: Duration
    private var level: Double
    private var filledAt = Duration.zero

    init(capacity: Double, interval: Duration) {
        (self.capacity, self.interval, level) = (capacity, interval, capacity)
    }

    /// Counts an event. Returns `false` if the event exceeds the limit.
    mutating func consume(at now: Duration) -> Bool {
        level = min(capacity, level + (now - filledAt) / interval) - 1
        filledAt = now
        return level >= 0
    }

    mutating func refill(by count: Double) { level = min(capacity, level + count) }
}
