import SeededChance

/// One satellite in view, moving slowly across the sky.
struct SimulatedSatellite: Sendable {
    let number: Int64
    private var elevationDegrees: Double
    private var azimuthDegrees: Double
    private var strength: Double

    init(index: Int, _ random: inout SplitMix64) {
        number = Int64(2 + index * 2)
        elevationDegrees = random.uniform(8...80)
        azimuthDegrees = random.uniform(0...359)
        strength = random.uniform(24...46)
    }

    mutating func drift(_ seconds: Double, _ random: inout SplitMix64) {
        azimuthDegrees += 0.006 * seconds
        if azimuthDegrees >= 360 { azimuthDegrees -= 360 }
        strength = max(15, min(49, strength + random.normal() * 0.3))
    }

    var elevation: Int64 { Int64(elevationDegrees) }
    var azimuth: Int64 { Int64(azimuthDegrees) }
    /// C/N0 in dB-Hz.
    var carrierToNoise: Int64 { Int64(strength) }
}
