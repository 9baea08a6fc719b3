import Glibc

/// A distribution of values, in bounded memory and with a relative precision.
package struct Distribution: Sendable, Hashable {
    private let least: Double
    private let greatest: Double
    private let step: Double
    /// The number of values in each size class.
    private var counts: [Int] = []
    package private(set) var count = 0
    /// The greatest value; exact.
    package private(set) var most = 0.0

    /// Creates a distribution that distinguishes values between `least` and `greatest` by a factor of `step`.
    package init(from least: Double, to greatest: Double, step: Double) {
        self.least = least
        self.greatest = greatest
        self.step = step
    }

    package mutating func add(_ value: Double) {
        let ratio = max(1, min(value, greatest) / least)
        let index = Int((log(ratio) / log(step)).rounded(.up))
        if index >= counts.count { counts += [Int](repeating: 0, count: index + 1 - counts.count) }
        counts[index] += 1
        count += 1
        most = max(most, value)
    }

    /// Returns the value that `share` of all values don't exceed; `nil` if there are no values.
    package func value(of share: Double) -> Double? {
        guard count > 0 else { return nil }
        var rest = (Double(count) * share).rounded(.up)
        for (index, count) in counts.enumerated() {
            rest -= Double(count)
            if rest <= 0 { return min(least * pow(step, Double(index)), most) }
        }
        return most
    }
}
