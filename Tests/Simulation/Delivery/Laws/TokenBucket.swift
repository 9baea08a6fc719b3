/// How often something may happen: bursts up to the capacity, in the long run one each `interval`.
struct TokenBucket {
    let capacity: Double
    let interval: Duration
    private var level: Double
    private var filledAt = Duration.zero

    init(capacity: Double, interval: Duration) {
        (self.capacity, self.interval, level) = (capacity, interval, capacity)
    }

    /// Counts one; `false` when that is one too many.
    mutating func take(at now: Duration) -> Bool {
        level = min(capacity, level + (now - filledAt) / interval) - 1
        filledAt = now
        return level >= 0
    }

    /// Allows so many more.
    mutating func give(_ count: Double) { level = min(capacity, level + count) }
}
