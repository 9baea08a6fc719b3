import TimeAndChance

/// All chance of a run, one stream for each part of the world, so that a part that draws more or less changes no other.
struct Dice: Sendable {
    private var generator: SplitMix64

    /// - Parameters:
    ///   - seed: of the run.
    ///   - stream: whose dice they are.
    init(seed: UInt64, stream: Stream) {
        generator = SplitMix64(
            seed: seed &* 0xD134_2543_DE82_EF95 &+ stream.rawValue &* 0x2545_F491_4F6C_DD1D)
        _ = next()
    }

    /// Who draws.
    enum Stream: UInt64, Sendable {
        case order = 1, climate, weather, receiver, road, network, server, issuer, jitter, power, disk, companion
    }

    mutating func next() -> UInt64 { generator.next() }

    /// 0..<1.
    mutating func unit() -> Double { generator.unit() }

    /// 0..<count; `count` is small, so that the bias of the remainder does not matter.
    mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

    mutating func chance(_ probability: Double) -> Bool { unit() < probability }

    mutating func uniform(_ range: ClosedRange<Double>) -> Double { generator.uniform(range) }

    /// From `range`, small values as likely as large ones of another order of magnitude: squares of squares.
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
