import Testing
import TimeAndRandomness

@Suite struct SeededDraws {
    /// The first numbers of the published generator for the seed 0.
    @Test func followThePublishedGenerator() {
        var chance = SplitMix64(seed: 0)
        #expect(
            (0..<3).map { _ in chance.next() } == [
                0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F,
            ])
    }

    @Test func areRepeatedWithTheSameSeedOnly() {
        var (one, other, third) = (SplitMix64(seed: 7), SplitMix64(seed: 7), SplitMix64(seed: 8))
        let draws = (0..<1000).map { _ in one.unit() }
        #expect(draws == (0..<1000).map { _ in other.unit() })
        #expect(draws != (0..<1000).map { _ in third.unit() })
    }

    @Test func areUniformInTheirRange() {
        var chance = SplitMix64(seed: 9)
        let draws = (0..<10_000).map { _ in chance.uniform(-2...6) }
        #expect(draws.allSatisfy { (-2..<6).contains($0) })
        #expect(abs(draws.reduce(0, +) / 10_000 - 2) < 0.1)
    }
}
