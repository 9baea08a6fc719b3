import Glibc

/// A histogram of values with exponentially growing buckets. Its memory is bounded, and its relative precision is
/// constant.
struct Distribution: Sendable, Hashable {
    private let minimum: Double
    private let limit: Double
    private let step: Double
    /// The number of values in each bucket.
    private var counts: [Int] = []
    private(set) var count = 0
    /// The exact maximum of all values; 0 if there are none.
    private(set) var maximum = 0.0

    /// Creates a histogram for values from `minimum` to `limit`. The upper bound of each bucket is `step` times the
    /// upper bound of the previous bucket.
    init(from minimum: Double, to limit: Double, step: Double) {
        self.minimum = minimum
        self.limit = limit
        self.step = step
    }

    mutating func add(_ value: Double) {
        let ratio = max(1, min(value, limit) / minimum)
        let index = Int((log(ratio) / log(step)).rounded(.up))
        if index >= counts.count { counts += [Int](repeating: 0, count: index + 1 - counts.count) }
        counts[index] += 1
        count += 1
        maximum = max(maximum, value)
    }

    /// Returns the value that isn't exceeded by the fraction `share` of all values; `nil` if there are none.
    func quantile(_ share: Double) -> Double? {
        guard count > 0 else { return nil }
        var rest = (Double(count) * share).rounded(.up)
        for (index, count) in counts.enumerated() {
            rest -= Double(count)
            if rest <= 0 { return min(minimum * pow(step, Double(index)), maximum) }
        }
        return maximum
    }
}
