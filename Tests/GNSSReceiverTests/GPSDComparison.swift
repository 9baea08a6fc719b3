import GNSS
import TimeAndChance

@testable import GNSSReceiver

/// The comparison of a recording read directly and through the real gpsd.
struct GPSDComparison {
    let direct: [Fix]
    let throughGPSD: [Fix]
    /// The times of the fixes that gpsd reported, without simulated fixes.
    let reportedTimes: Set<Int64>

    /// Reads the complete lines in the first 20,000 bytes of `log`, optionally without comments (`#`).
    static func comparing(_ log: [UInt8], withoutComments: Bool = true) async throws -> GPSDComparison {
        let lines = log.prefix(20_000).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        let bytes = Array(
            lines.filter { !withoutComments || $0.first != UInt8(ascii: "#") }.map { $0 + [UInt8(ascii: "\n")] }
                .joined())
        let transcript = try await GPSDTranscript.output(for: bytes)
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
        splitter.split(transcript.span) { line in
            guard let report = GPSDReport(line) else { return }
            if case .position(_, _, let fix?) = report { reportedTimes.insert(Self.time(fix)) }
            _ = session.handle(report, at: .zero) { throughGPSD.append($0) }
        }
        session.finish { throughGPSD.append($0) }
        self.direct = direct
        self.throughGPSD = throughGPSD
        self.reportedTimes = reportedTimes
    }

    /// Returns descriptions of the differences. Positions may differ by `degrees`.
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
        differences += reportedTimes.subtracting(given).map { "the report of \($0) ms produced no fix" }
        return differences
    }

    /// The number of fixes that gpsd hasn't reported.
    var unreported: Int { Set(direct.map(Self.time)).subtracting(throughGPSD.map(Self.time)).count }

    /// Returns the time modulo 1024 weeks, because gpsd moves past dates by such spans and recordings keep their dates.
    private static func time(_ fix: Fix) -> Int64 {
        fix.timeOfFix.millisecondsSince1970 % (1024 * 7 * UTCTime.millisecondsPerDay)
    }

    /// Whether both values are equal in the precision of gpsd's output, or one is missing.
    private static func agree(_ one: Double?, _ other: Double?, within tolerance: Double) -> Bool {
        guard let one, let other else { return true }
        return abs(one - other) <= tolerance
    }
}
