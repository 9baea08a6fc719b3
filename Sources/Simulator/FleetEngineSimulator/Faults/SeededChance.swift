/// Draws that a seed determines, so that a run with faults can be repeated (SplitMix64).
struct SeededChance {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The next draw from 0..<1.
    mutating func draw() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) * 0x1p-53
    }
}
