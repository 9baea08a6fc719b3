import FoundationEssentials
import GNSS
import Testing
import WaypostTestSupport

/// Recordings of real receivers with another reader's fixes. They are not part of the project, so these tests run only
/// on machines that have them beside the checkout (`Fixtures.recordedReceivers`).
@Suite(.enabled(if: Fixtures.recordedReceivers != nil)) struct RecordedReceivers {
    /// What the other reader reported.
    struct Report: Decodable {
        let mode: Int
        let time: String?
        let lat: Double?
        let lon: Double?
    }

    static let logs: [String] = {
        guard let folder = Fixtures.recordedReceivers else { return [] }
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "gpsd").path)
        return (names ?? []).filter { $0.hasSuffix(".log") }.sorted()
    }()

    static func bytes(_ log: String) throws -> [UInt8] {
        let folder = try #require(Fixtures.recordedReceivers)
        return try [UInt8](Data(contentsOf: folder.appending(path: "gpsd/\(log)")))
    }

    @Test(arguments: logs)
    func giveTheFixesThatAnotherReaderFinds(log: String) throws {
        let folder = try #require(Fixtures.recordedReceivers)
        let lines = try Data(contentsOf: folder.appending(path: "truth/\(log).jsonl")).split(
            separator: UInt8(ascii: "\n"))
        let reports = try lines.map { try JSONDecoder().decode(Report.self, from: $0) }
        let fixes = try Decoding.fixes(Self.bytes(log))
        var missed: [String] = []
        // Dates may differ by roll-overs, which recorded logs keep; the time of day may not.
        let byClock = Dictionary(grouping: fixes) { $0.timeOfFix.description.suffix(13) }
        for report in reports where report.mode >= 2 {
            guard let time = report.time, let latitude = report.lat, let longitude = report.lon else { continue }
            let isFound = (byClock[time.suffix(13)] ?? []).contains { fix in
                abs(fix.latitude - latitude) <= 1e-6 && abs(fix.longitude - longitude) <= 1e-6
            }
            if !isFound { missed.append(time) }
        }
        #expect(missed.isEmpty)
        if !reports.contains(where: { $0.mode >= 2 }) { #expect(fixes.isEmpty, "\(log) has no position") }
    }

    @Test(arguments: logs)
    func giveTheSameHoweverTheyAreCut(log: String) throws {
        let bytes = try Self.bytes(log).prefix(20_000)
        let whole = Decoding.fixes(Array(bytes))
        for seed in 0..<2 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            #expect(Decoding.outcome(of: Array(bytes)) { Int.random(in: 1...200, using: &random) }.fixes == whole)
        }
    }
}
