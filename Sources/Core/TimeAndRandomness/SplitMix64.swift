/// A pseudorandom generator that returns the same numbers for the same seed on every machine, so that a run with random
/// events can be repeated.
///
/// This is the generator of Steele, Lea and Flood with 64 bits of state (Fast Splittable Pseudorandom Number
/// Generators, 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a uniformly distributed number in 0..<1. It has 53 bits, so the conversion to `Double` is exact.
    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns a uniformly distributed number in `range`.
    package mutating func uniform(_ range: ClosedRange<Double>) -> Double {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }
}
