import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@Suite(.enabled(if: !Sanitizer.isActive, "computes for a long time on one thread, as fuzzers do"))
struct Mutation {
    /// Damages one to three bytes of a sentence. Only bytes with a correct checksum may produce a fix, and only with
    /// possible values.
    @Test func mutatedBytesAreDetected() {
        let sentence = Array(Framing.plainSentence.utf8)
        #expect(Self.fixes(of: sentence).count == 1)
        var random = SplitMix64(seed: 1)
        var damagedCount = 0
        var correctChecksums = 0
        var fixCount = 0
        var accepted: [[UInt8]] = []
        while damagedCount < 100_000 {
            var damaged = sentence
            // Every other time the new byte is a digit, so that the damaged bytes look like a sentence.
            let range: ClosedRange<UInt8> = damagedCount % 2 == 0 ? .min ... .max : 0x30...0x39
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 1..<damaged.count, using: &random)] = UInt8.random(in: range, using: &random)
            }
            if damaged == sentence { continue }
            damagedCount += 1
            let fixes = Self.fixes(of: damaged)
            let isChecksumCorrect = Self.hasCorrectChecksum(damaged)
            if isChecksumCorrect { correctChecksums += 1 }
            fixCount += fixes.count
            if !fixes.isEmpty, !isChecksumCorrect || !fixes.allSatisfy(Self.isPossible) { accepted.append(damaged) }
        }
        #expect(accepted.isEmpty)
        // One in 256 checksums is correct by chance, so both cases have been tested.
        #expect(
            correctChecksums > 100 && fixCount > 10 && fixCount < correctChecksums, "\(correctChecksums) \(fixCount)")
    }

    /// Damages the fields and corrects the checksum, so that only ranges and forms can detect the damage.
    @Test func mutatedFieldsNeverProduceAnImpossibleFix() {
        let bodies = PositionSentences.valid.map(\.0)
        var random = SplitMix64(seed: 2)
        var impossible: [String] = []
        var fixCount = 0
        var malformed = 0
        var outOfRange = 0
        for round in 0..<100_000 {
            var body = Array(bodies[round % bodies.count].utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                body[Int.random(in: 6..<body.count, using: &random)] = UInt8.random(in: 0x2B...0x5A, using: &random)
            }
            let text = sentence(String(decoding: body, as: UTF8.self))
            let (fixes, statistics) = Self.outcome(of: Array((Decoding.dateSentence() + text).utf8))
            fixCount += fixes.count
            malformed += statistics.rejections(.malformedField).count
            outOfRange += statistics.rejections(.outOfRange).count
            if !fixes.allSatisfy(Self.isPossible) { impossible.append(text) }
        }
        #expect(impossible.isEmpty)
        #expect(fixCount > 10_000 && malformed > 10_000 && outOfRange > 1000, "\(fixCount) \(malformed) \(outOfRange)")
    }

    /// Returns the fixes of `bytes`, decoded by a copy of a new decoder.
    private static func fixes(of bytes: [UInt8]) -> [Fix] { outcome(of: bytes).fixes }

    private static func outcome(of bytes: [UInt8]) -> (fixes: [Fix], statistics: DecoderStatistics) {
        var decoder = newDecoder
        var fixes: [Fix] = []
        decoder.decode(bytes.span, receivedAt: .zero) { fixes.append($0) }
        decoder.finish { fixes.append($0) }
        return (fixes, decoder.statistics)
    }

    private static let newDecoder = NMEADecoder()

    /// Whether any `$` in `bytes` begins a sentence with a correct checksum, computed without the decoder.
    private static func hasCorrectChecksum(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { start in
            guard bytes[start] == UInt8(ascii: "$"), let end = bytes[start...].firstIndex(of: UInt8(ascii: "*")),
                end + 2 < bytes.count
            else { return false }
            let digits = bytes[(end + 1)...(end + 2)]
            let isHexadecimal = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            guard isHexadecimal, let stated = UInt8(String(decoding: digits, as: UTF8.self), radix: 16) else {
                return false
            }
            return bytes[(start + 1)..<end].reduce(0, ^) == stated
        }
    }

    private static func isPossible(_ fix: Fix) -> Bool {
        (-90...90).contains(fix.latitude) && (-180...180).contains(fix.longitude)
            && (0..<360).contains(fix.headingDegrees ?? 0) && (0..<360).contains(fix.bodyHeadingDegrees ?? 0)
            && (0...515).contains(fix.speedMetersPerSecond ?? 0)
            && (-10_000...100_000).contains(fix.altitudeMeters ?? 0) && (fix.horizontalAccuracyMeters ?? 1) > 0
            && (0...255).contains(fix.satellitesUsed ?? 0) && fix.timeOfFix >= UTCTime(year: 1980, month: 1, day: 1)
    }
}
