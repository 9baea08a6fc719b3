/// How often which speed was stated, in steps of 1 km/h.
struct SpeedHistogram: Sendable {
    private var counts = [Int](repeating: 0, count: 1001)
    private(set) var total = 0

    /// Adds a speed in metres per second.
    mutating func add(_ speed: Double) {
        counts[min(counts.count - 1, max(0, Int(min(1000, speed * 3.6))))] += 1
        total += 1
    }

    /// The speed, in metres per second, that all but one of 500 keep below: one wild value does not make the scale.
    var usualTop: Double {
        var left = total - total / 500
        for (index, count) in counts.enumerated() {
            left -= count
            if left <= 0 { return Double(index + 1) / 3.6 }
        }
        return 0
    }
}
