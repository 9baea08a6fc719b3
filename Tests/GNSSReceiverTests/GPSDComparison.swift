import GNSS
import TimeAndChance

@testable import GNSSReceiver

/// One recording read in two ways: directly, and through the real gpsd.
struct GPSDComparison {
    let direct: [Fix]
    let throughGPSD: [Fix]
    /// Times of fixes by gpsd's own account, without those that no receiver found.
    let reportedTimes: Set<Int64>

    /// Reads `log` to the line at its 20,000th byte; `withoutComments`, without its annotations (`#`).
    static func of(_ log: [UInt8], withoutComments: Bool = true) async throws -> GPSDComparison {
        let lines = log.prefix(20_000).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        let bytes = Array(
            lines.filter { !withoutComments || $0.first != UInt8(ascii: "#") }.map { $0 + [UInt8(ascii: "\n")] }
                .joined())
        let transcript = try await GPSDTranscript.of(bytes)
        return GPSDComparison(sentences: bytes, transcript: transcript)
    }

    private init(sentences: [UInt8], transcript: [UInt8]) {
        var decoder = NMEADecoder()
        var direct: [Fix] = []
        decoder.decode(sentences.span, receivedAt: .zero) { direct.append($0) }
        decoder.finish { direct.append($0) }

        var splitter = LineSplitter()
        var session = GPSDSession()
        var throughGPSD: [Fix] = []
        var reportedTimes: Set<Int64> = []
        splitter.take(transcript.span) { line in
            guard let report = GPSDReport(line) else { return }
            if case .position(_, _, let fix?) = report { reportedTimes.insert(Self.time(fix)) }
            _ = session.take(report, at: .zero) { throughGPSD.append($0) }
        }
        session.finish { throughGPSD.append($0) }
        (self.direct, self.throughGPSD, self.reportedTimes) = (direct, throughGPSD, reportedTimes)
    }

    /// What is not the same in both, in words; `degrees` is how far positions may be apart.
    func differences(degrees: Double) -> [String] {
        let byTime = Dictionary(direct.map { (Self.time($0), $0) }, uniquingKeysWith: { first, _ in first })
        var differences: [String] = []
        for fix in throughGPSD {
            guard let other = byTime[Self.time(fix)] else {
                differences.append("\(fix.timeOfFix) is not in the recording")
                continue
            }
            let isSame =
                abs(fix.latitude - other.latitude) <= degrees && abs(fix.longitude - other.longitude) <= degrees
                && Self.agree(fix.speedMetersPerSecond, other.speedMetersPerSecond, within: 0.0006)
                && Self.agree(fix.headingDegrees, other.headingDegrees, within: 0.0002)
                && Self.agree(fix.altitudeMeters, other.altitudeMeters, within: 0.001)
                && fix.quality == other.quality
            if !isSame { differences.append("through gpsd: \(fix), directly: \(other)") }
        }
        let given = Set(throughGPSD.map(Self.time))
        differences += reportedTimes.subtracting(given).map { "a report of \($0) ms has given no fix" }
        return differences
    }

    /// How many fixes gpsd has kept to itself.
    var unreported: Int { Set(direct.map(Self.time)).subtracting(throughGPSD.map(Self.time)).count }

    /// Milliseconds within 1024 weeks: gpsd moves dates of the past by such spans, recordings keep theirs.
    private static func time(_ fix: Fix) -> Int64 {
        fix.timeOfFix.millisecondsSince1970 % (1024 * 7 * UTCTime.millisecondsPerDay)
    }

    /// Whether both are the same as far as gpsd writes digits, where both ways know them.
    private static func agree(_ one: Double?, _ other: Double?, within tolerance: Double) -> Bool {
        guard let one, let other else { return true }
        return abs(one - other) <= tolerance
    }
}
