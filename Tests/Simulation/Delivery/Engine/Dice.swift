import TimeAndRandomness

/// The random numbers of a run. Each part of the world has its own stream, so that the draws of one part don't affect
/// the other parts.
struct Dice: Sendable {
    private var generator: SplitMix64

    /// - Parameters:
    ///   - seed: the seed of the run.
    ///   - stream: the part of the simulated world that draws the random numbers.
    init(seed: UInt64, stream: Stream) {
        generator = SplitMix64(
            seed: seed &* 0xD134_2543_DE82_EF95 &+ stream.rawValue &* 0x2545_F491_4F6C_DD1D)
        _ = next()
    }

    enum Stream: UInt64, Sendable {
        case order = 1, climate, weather, receiver, road, network, server, issuer, jitter, power, disk, companion
    }

    mutating func next() -> UInt64 { generator.next() }

    /// Draws from 0..<1.
    mutating func unit() -> Double { generator.unit() }

    /// Draws from 0..<count. `count` is small, so the bias of the remainder doesn't matter.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    mutating func chance(_ probability: Double) -> Bool { unit() < probability }

    mutating func uniform(_ range: ClosedRange<Double>) -> Double { generator.uniform(range) }

    /// Draws from `range`, mostly small values: the position within the range is the product of three draws.
    mutating func skewed(_ range: ClosedRange<Double>) -> Double {
        let share = unit() * unit() * unit()
        return range.lowerBound + share * (range.upperBound - range.lowerBound)
    }

    mutating func seconds(_ range: ClosedRange<Double>) -> Duration {
        .milliseconds(Int64(uniform(range) * 1000))
    }

    mutating func skewedSeconds(_ range: ClosedRange<Double>) -> Duration {
        .milliseconds(Int64(skewed(range) * 1000))
    }

    mutating func element<Element>(of elements: [Element]) -> Element { elements[below(elements.count)] }
}
