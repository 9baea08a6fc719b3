import GNSS
import TimeAndRandomness

@testable import GNSSReceiver

/// A comparison of a recording's fixes, read directly and through the real gpsd.
struct GPSDComparison {
    let directFixes: [Fix]
    let fixesThroughGPSD: [Fix]
    /// The times of the fixes that gpsd reported, without simulated fixes.
    let reportedTimes: Set<Int64>

    /// Reads the complete lines in the first 20,000 bytes of `log`, optionally without comments (`#`).
    init(of log: [UInt8], withoutComments: Bool = true) async throws {
        let lines = log.prefix(20_000).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        let bytes = Array(
            lines.filter { !withoutComments || $0.first != UInt8(ascii: "#") }.map { $0 + [UInt8(ascii: "\n")] }
                .joined())
        let transcript = try await GPSDTranscript.output(for: bytes)
        self.init(sentences: bytes, transcript: transcript)
    }

    private init(sentences: [UInt8], transcript: [UInt8]) {
        var decoder = NMEADecoder()
        var directFixes: [Fix] = []
        decoder.decode(sentences.span, receivedAt: .zero) { directFixes.append($0) }
        decoder.finish { directFixes.append($0) }

        var splitter = LineSplitter()
        var session = GPSDSession()
        var fixesThroughGPSD: [Fix] = []
        var reportedTimes: Set<Int64> = []
        splitter.split(transcript.span) { line in
            guard let report = GPSDReport(line) else { return }
            if case .position(_, _, let fix?, _) = report { reportedTimes.insert(Self.timeModuloRollOver(of: fix)) }
            _ = session.handle(report, at: .zero) { fixesThroughGPSD.append($0) }
        }
        session.finish { fixesThroughGPSD.append($0) }
        self.directFixes = directFixes
        self.fixesThroughGPSD = fixesThroughGPSD
        self.reportedTimes = reportedTimes
    }

    /// Returns descriptions of the differences. Positions may differ by `toleranceDegrees`.
    func differences(toleranceDegrees tolerance: Double) -> [String] {
        let byTime = Dictionary(
            directFixes.map { (Self.timeModuloRollOver(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        var differences: [String] = []
        for fix in fixesThroughGPSD {
            guard let other = byTime[Self.timeModuloRollOver(of: fix)] else {
                differences.append("\(fix.timeOfFix) is not in the recording")
                continue
            }
            let isSame =
                abs(fix.latitude - other.latitude) <= tolerance && abs(fix.longitude - other.longitude) <= tolerance
                && Self.areEqual(fix.speedMetersPerSecond, other.speedMetersPerSecond, within: 0.0006)
                && Self.areEqual(fix.headingDegrees, other.headingDegrees, within: 0.0002)
                && Self.areEqual(fix.altitudeMeters, other.altitudeMeters, within: 0.001)
                && fix.quality == other.quality
            if !isSame { differences.append("through gpsd: \(fix), directly: \(other)") }
        }
        let times = Set(fixesThroughGPSD.map(Self.timeModuloRollOver))
        differences += reportedTimes.subtracting(times).map { "the report of \($0) ms produced no fix" }
        return differences
    }

    /// The number of direct fixes that gpsd hasn't reported.
    var unreportedCount: Int {
        Set(directFixes.map(Self.timeModuloRollOver)).subtracting(fixesThroughGPSD.map(Self.timeModuloRollOver)).count
    }

    /// Returns the time modulo 1024 weeks, because gpsd moves past dates by such spans and recordings keep theirs.
    private static func timeModuloRollOver(of fix: Fix) -> Int64 {
        fix.timeOfFix.millisecondsSince1970 % (1024 * 7 * UTCTime.millisecondsPerDay)
    }

    /// Whether both values are equal in the precision of gpsd's output, or one is missing.
    private static func areEqual(_ one: Double?, _ other: Double?, within tolerance: Double) -> Bool {
        guard let one, let other else { return true }
        return abs(one - other) <= tolerance
    }
}
