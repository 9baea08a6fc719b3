import SeededChance

extension SplitMix64 {
    /// About normal with standard deviation 1: the sum of twelve even draws needs no logarithm.
    mutating func normal() -> Double {
        var sum = -6.0
        for _ in 0..<12 { sum += uniform(0...1) }
        return sum
    }
}
