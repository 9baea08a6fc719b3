import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread, as fuzzers do"))
struct Chunking {
    /// The results of a decoder, with the fixes also as JSON Lines.
    private struct Result: Equatable {
        let fixes: [Fix]
        let json: [UInt8]
        let lines: Int
        let sentences: Int
        let rejections: [Int]

        init(of bytes: [UInt8], cuts: () -> Int = { .max }) {
            let outcome = Decoding.outcome(of: bytes, cuts: cuts)
            fixes = outcome.fixes
            var json: [UInt8] = []
            for fix in fixes { JSONLinesFormat.append(fix, to: &json) }
            self.json = json
            lines = outcome.statistics.lines
            sentences = outcome.statistics.sentences
            rejections = SentenceRejection.allCases.map { outcome.statistics.rejections($0).count }
        }
    }

    @Test func splittingAtEveryBoundaryHasNoEffect() {
        let bytes = MixedStream.bytes(seed: 9, seconds: MixedStream.kindCount)
        let whole = Result(of: bytes)
        #expect(whole.fixes.count == MixedStream.kindCount)
        let differing = (1..<bytes.count).filter { cut in
            var pieces = [cut, .max][...]
            return Result(of: bytes, cuts: { pieces.popFirst() ?? .max }) != whole
        }
        #expect(differing.isEmpty)
    }

    @Test func splittingAtRandomHasNoEffect() {
        let bytes = MixedStream.bytes(seed: 7, seconds: MixedStream.kindCount)
        let whole = Result(of: bytes)
        #expect(whole.fixes.count == MixedStream.kindCount)
        let differing = (0..<1000 as Range<UInt64>).filter { seed in
            var random = SplitMix64(seed: seed)
            let maximum = Int.random(in: 1...400, using: &random)
            return Result(of: bytes, cuts: { Int.random(in: 1...maximum, using: &random) }) != whole
        }
        #expect(differing.isEmpty)
    }

    @Test func splittingIntoSingleBytesHasNoEffect() {
        let bytes = MixedStream.bytes(seed: 8, seconds: 66)
        #expect(Result(of: bytes, cuts: { 1 }) == Result(of: bytes))
    }
}
