/// Steele, Lea and Flood's generator: 64 bits of state, the same numbers on every machine.
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Evenly from `range`; 53 bits, so that the conversion is exact.
    mutating func uniform(_ range: ClosedRange<Double>) -> Double {
        let unit = Double(next() >> 11) / 9_007_199_254_740_992
        return range.lowerBound + unit * (range.upperBound - range.lowerBound)
    }

    /// About normal with standard deviation 1: the sum of twelve even draws needs no logarithm.
    mutating func normal() -> Double {
        var sum = -6.0
        for _ in 0..<12 { sum += uniform(0...1) }
        return sum
    }
}
