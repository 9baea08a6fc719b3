import GNSS
import Testing

@Suite struct Mutation {
    /// Damages one byte of a sentence; what still gives a fix must have a right checksum.
    @Test func ofTheBytesIsNoticed() {
        let sentence = Array(Framing.plain.utf8)
        let original = Self.fixes(sentence)
        var random = SeededGenerator(seed: 1)
        var accepted: [[UInt8]] = []
        for _ in 0..<50_000 {
            var damaged = sentence
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: 1..<damaged.count, using: &random)] = UInt8.random(
                    in: .min ... .max, using: &random)
            }
            let fixes = Self.fixes(damaged)
            if fixes.isEmpty || fixes == original && fixes.allSatisfy(Self.isPossible) { continue }
            if !Self.agrees(damaged) || !fixes.allSatisfy(Self.isPossible) { accepted.append(damaged) }
        }
        #expect(accepted.isEmpty)
    }

    /// Damages the fields and states the right checksum of the damage: only ranges and forms are left to notice it.
    @Test func ofTheFieldsNeverGivesAnImpossibleFix() {
        let bodies = PositionSentences.valid.map(\.0)
        var random = SeededGenerator(seed: 2)
        var impossible: [String] = []
        for round in 0..<50_000 {
            var body = Array(bodies[round % bodies.count].utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                body[Int.random(in: 6..<body.count, using: &random)] = UInt8.random(in: 0x2B...0x5A, using: &random)
            }
            let text = Decoding.sentence(String(decoding: body, as: UTF8.self))
            let bytes = Array((Decoding.date() + text).utf8)
            if !Self.fixes(bytes).allSatisfy(Self.isPossible) { impossible.append(text) }
        }
        #expect(impossible.isEmpty)
    }

    /// The fixes of `bytes` alone, by a decoder that is copied, not built anew.
    private static func fixes(_ bytes: [UInt8]) -> [Fix] {
        var decoder = fresh
        var fixes: [Fix] = []
        decoder.decode(bytes.span, receivedAt: .zero) { fixes.append($0) }
        decoder.finish { fixes.append($0) }
        return fixes
    }

    private static let fresh = NMEADecoder()

    private static func agrees(_ bytes: [UInt8]) -> Bool {
        guard let start = bytes.lastIndex(of: UInt8(ascii: "$")),
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "*")),
            end + 2 < bytes.count,
            let stated = UInt8(String(decoding: bytes[(end + 1)...(end + 2)], as: UTF8.self), radix: 16)
        else { return false }
        return bytes[(start + 1)..<end].reduce(0, ^) == stated
    }

    private static func isPossible(_ fix: Fix) -> Bool {
        (-90...90).contains(fix.latitude) && (-180...180).contains(fix.longitude)
            && (0..<360).contains(fix.headingDegrees ?? 0) && (0...515).contains(fix.speedMetersPerSecond ?? 0)
            && (-10_000...100_000).contains(fix.altitudeMeters ?? 0) && (fix.horizontalAccuracyMeters ?? 1) > 0
            && (0...255).contains(fix.satellitesUsed ?? 0) && fix.timeOfFix >= UTCTime(year: 1980, month: 1, day: 1)
    }
}
