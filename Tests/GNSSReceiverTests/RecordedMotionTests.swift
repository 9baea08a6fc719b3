import FoundationEssentials
import GNSS
import GNSSReceiver
import Testing
import WaypostTestSupport

/// Motion that is derived only from positions, compared with the reported motion in recordings, which some machines
/// have next to the checkout (`Fixtures.recordedReceivers`).
@Suite(.enabled(if: Fixtures.recordedReceivers != nil, "no recorded receivers next to the checkout"))
struct RecordedMotion {
    private struct Errors {
        var speeds: [Double] = []
        var headings: [Double] = []
        var movingFixes = 0
        var standingFixes = 0
        /// The number of courses that were derived for a standing vehicle.
        var inventedCourses = 0

        mutating func compare(_ derived: Fix, with reported: Fix) {
            guard let speed = reported.speedMetersPerSecond else { return }
            if speed < 0.3 {
                standingFixes += 1
                if derived.derived.headingDegrees != nil { inventedCourses += 1 }
            }
            guard speed > 3 else { return }
            movingFixes += 1
            if let other = derived.derived.speedMetersPerSecond { speeds.append(abs(other - speed)) }
            if let heading = reported.headingDegrees, let other = derived.derived.headingDegrees {
                let turn = abs(other - heading)
                headings.append(min(turn, 360 - turn))
            }
        }
    }

    private static func fixes(of log: URL) async throws -> [Fix] {
        try await LogReader(paths: [log.path]).read { reader in
            var fixes: [Fix] = []
            while true {
                let chunk = reader.nextChunk()
                fixes += chunk.fixes
                if chunk.isLast { return fixes }
            }
        }
    }

    private static let logs: [URL] = {
        guard let receivers = Fixtures.recordedReceivers else { return [] }
        return [receivers.appending(path: "gpsd"), receivers.appending(path: "../drives")].flatMap { directory in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
            return names.filter { $0.hasSuffix(".log") || $0.hasSuffix(".nmea.gz") }.sorted().map {
                directory.appending(path: $0)
            }
        }
    }()

    private static func percentile(_ fraction: Double, of values: [Double]) -> Double {
        values.sorted()[min(values.count - 1, Int(Double(values.count) * fraction))]
    }

    @Test func agreesWithReportedMotion() async throws {
        var errors = Errors()
        for log in Self.logs {
            var motion = DerivedMotion()
            for reported in try await Self.fixes(of: log) {
                var bare = reported
                bare.speedMetersPerSecond = nil
                bare.headingDegrees = nil
                let derived = motion.complete(bare)
                #expect(derived.speedMetersPerSecond == nil && derived.headingDegrees == nil)
                errors.compare(derived, with: reported)
            }
        }
        try #require(errors.movingFixes > 1000 || Self.logs.count < 43)
        try #require(!errors.speeds.isEmpty && !errors.headings.isEmpty)
        let speed = (Self.percentile(0.5, of: errors.speeds), Self.percentile(0.95, of: errors.speeds))
        let heading = (Self.percentile(0.5, of: errors.headings), Self.percentile(0.95, of: errors.headings))
        #expect(speed.0 <= 0.2 && speed.1 <= 1.2, "speed: median \(speed.0), 95 % \(speed.1) m/s")
        #expect(heading.0 <= 1 && heading.1 <= 10, "heading: median \(heading.0), 95 % \(heading.1) degrees")
        #expect(
            Double(errors.speeds.count) >= 0.97 * Double(errors.movingFixes),
            "\(errors.speeds.count) of \(errors.movingFixes)")
        #expect(
            Double(errors.inventedCourses) <= 0.005 * Double(errors.standingFixes),
            "\(errors.inventedCourses) of \(errors.standingFixes)")
    }

    @Test(arguments: logs) func keepsReportedValues(log: URL) async throws {
        var motion = DerivedMotion()
        for reported in try await Self.fixes(of: log) {
            var fix = motion.complete(reported)
            #expect(reported.speedMetersPerSecond == nil || fix.derived.speedMetersPerSecond == nil)
            #expect(reported.headingDegrees == nil || fix.derived.headingDegrees == nil)
            fix.derived = TrackMotion()
            #expect(fix == reported)
        }
    }
}
