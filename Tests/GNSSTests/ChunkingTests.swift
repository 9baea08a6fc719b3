import GNSS
import Testing

@Suite struct Chunking {
    @Test func neverChangesTheFixes() {
        let bytes = MixedStream.bytes(seed: 7, seconds: 12)
        let whole = Decoding.outcome(of: bytes)
        #expect(whole.fixes.count == 12)
        var differing: [UInt64] = []
        for seed in 0..<1000 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let longest = Int.random(in: 1...400, using: &random)
            let cut = Decoding.outcome(of: bytes) { Int.random(in: 1...longest, using: &random) }
            let isSame =
                cut.fixes == whole.fixes && cut.statistics.lines == whole.statistics.lines
                && SentenceRefusal.allCases.allSatisfy { cut.statistics.refusals($0) == whole.statistics.refusals($0) }
            if !isSame { differing.append(seed) }
        }
        #expect(differing.isEmpty)
    }

    @Test func byteByByteChangesNothing() {
        let bytes = MixedStream.bytes(seed: 8, seconds: 60)
        #expect(Decoding.outcome(of: bytes, cuts: { 1 }).fixes == Decoding.fixes(bytes))
    }
}
