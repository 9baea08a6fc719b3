import FoundationEssentials
import Testing
import TimeAndRandomness
import WaypostTestSupport

/// Recordings of real receivers with another reader's fixes. They are not part of the project, so these tests run only
/// on machines that have them next to the checkout (`Fixtures.recordedReceivers`).
@Suite(.enabled(if: Fixtures.recordedReceivers != nil)) struct RecordedReceivers {
    static let logs: [String] = {
        guard let directory = Fixtures.recordedReceivers else { return [] }
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.appending(path: "gpsd").path)
        return (names ?? []).filter { $0.hasSuffix(".log") }.sorted()
    }()

    static func bytes(of log: String) throws -> [UInt8] {
        let directory = try #require(Fixtures.recordedReceivers)
        return try [UInt8](Data(contentsOf: directory.appending(path: "gpsd/\(log)")))
    }

    private static func lines<Line: Decodable>(of path: String, as type: Line.Type) throws -> [Line] {
        let file = try #require(Fixtures.recordedReceivers).appending(path: "truth/\(path).jsonl")
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(type, from: $0)
        }
    }

    private static func score(of log: String) throws -> RecordingScore {
        try RecordingScore(
            fixes: Decoding.fixes(of: bytes(of: log)), reports: lines(of: log, as: RecordingScore.Report.self),
            claims: lines(of: "claims/\(log)", as: RecordingScore.Claim.self))
    }

    /// The number of fixes, by log, that the log's sentences state but the other reader doesn't report.
    /// docs/evidence/nmea.md explains each of them. The other reader drops the end of a truncated log, and all fixes
    /// until it has identified the receiver.
    static let statedOnlyCounts = [
        "ac12_binary.log": 1, "ais-nmea.log": 3, "bt451.log": 2, "ch-4701.log": 1, "humminbird-M37.log": 2,
        "isync.log": 1, "neo-m8n.log": 1, "ublox-lea-4h.log": 1, "ublox-zed-f9p_hpg1.11.log": 1,
    ]

    @Test(arguments: logs)
    func produceTheFixesOfTheirSentences(log: String) throws {
        let score = try Self.score(of: log)
        #expect(score.hits == score.epochs)
        #expect(score.invented.isEmpty)
        #expect(score.statedOnly.count == Self.statedOnlyCounts[log] ?? 0)
        if score.epochs == 0 { #expect(score.agreeingFixes == score.fixes) }
    }

    @Test func produceOneFixPerEpoch() throws {
        let scores = try Self.logs.map(Self.score)
        let hits = scores.reduce(0) { $0 + $1.hits }
        let singleFixHits = scores.reduce(0) { $0 + $1.singleFixHits }
        #expect(hits > 0)
        #expect(Double(singleFixHits) >= 0.99 * Double(hits))
    }

    @Test(arguments: logs)
    func produceTheSameFixesInPiecesOfAnyLength(log: String) throws {
        let bytes = try Self.bytes(of: log).prefix(20_000)
        let whole = Decoding.fixes(of: Array(bytes))
        for seed in 0..<2 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            #expect(Decoding.outcome(of: Array(bytes)) { Int.random(in: 1...200, using: &random) }.fixes == whole)
        }
    }
}
