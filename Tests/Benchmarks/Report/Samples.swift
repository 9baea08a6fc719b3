/// Repeated measurements of a duration.
package struct Samples: Sendable {
    private var milliseconds: [Double] = []

    package init() {}

    package var count: Int { milliseconds.count }

    package mutating func append(_ duration: Duration) { milliseconds.append(duration / .milliseconds(1)) }

    /// Returns the value in milliseconds that the given share of samples doesn't exceed (nearest rank); 0 without
    /// samples.
    package func percentile(_ share: Double) -> Double {
        guard !milliseconds.isEmpty else { return 0 }
        let rank = Int((share * Double(milliseconds.count)).rounded(.up))
        return milliseconds.sorted()[min(max(rank, 1), milliseconds.count) - 1]
    }

    package var median: Double { percentile(0.5) }

    /// Returns the sums of the samples, pair by pair.
    package static func + (one: Self, other: Self) -> Self {
        var sum = Self()
        sum.milliseconds = zip(one.milliseconds, other.milliseconds).map { $0 + $1 }
        return sum
    }
}
