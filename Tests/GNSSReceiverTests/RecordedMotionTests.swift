import FoundationEssentials
import GNSS
import GNSSReceiver
import Testing
import WaypostTestSupport

/// Motion derived from positions only, compared with the reported motion in recordings, which some machines have next
/// to the checkout (`Fixtures.recordedReceivers`).
@Suite(.enabled(if: Fixtures.recordedReceivers != nil, "no recorded receivers next to the checkout"))
struct RecordedMotion {
    private struct Errors {
        var speeds: [Double] = []
        var headings: [Double] = []
        var moving = 0
        var standing = 0
        /// The number of courses derived for a standing vehicle.
        var inventedCourses = 0

        mutating func compare(_ derived: Fix, with stated: Fix) {
            guard let speed = stated.speedMetersPerSecond else { return }
            if speed < 0.3 {
                standing += 1
                if derived.derived.headingDegrees != nil { inventedCourses += 1 }
            }
            guard speed > 3 else { return }
            moving += 1
            if let other = derived.derived.speedMetersPerSecond { speeds.append(abs(other - speed)) }
            if let heading = stated.headingDegrees, let other = derived.derived.headingDegrees {
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

    private static func percentile(_ part: Double, _ values: [Double]) -> Double {
        values.sorted()[min(values.count - 1, Int(Double(values.count) * part))]
    }

    @Test func agreesWithStatedMotion() async throws {
        var errors = Errors()
        for log in Self.logs {
            var motion = DerivedMotion()
            for stated in try await Self.fixes(of: log) {
                var bare = stated
                bare.speedMetersPerSecond = nil
                bare.headingDegrees = nil
                let derived = motion.complete(bare)
                #expect(derived.speedMetersPerSecond == nil && derived.headingDegrees == nil)
                errors.compare(derived, with: stated)
            }
        }
        try #require(errors.moving > 1000 || Self.logs.count < 43)
        try #require(!errors.speeds.isEmpty && !errors.headings.isEmpty)
        let speed = (Self.percentile(0.5, errors.speeds), Self.percentile(0.95, errors.speeds))
        let heading = (Self.percentile(0.5, errors.headings), Self.percentile(0.95, errors.headings))
        #expect(speed.0 <= 0.2 && speed.1 <= 1.2, "speed: median \(speed.0), 95 % \(speed.1) m/s")
        #expect(heading.0 <= 1 && heading.1 <= 10, "heading: median \(heading.0), 95 % \(heading.1) degrees")
        #expect(
            Double(errors.speeds.count) >= 0.97 * Double(errors.moving), "\(errors.speeds.count) of \(errors.moving)")
        #expect(
            Double(errors.inventedCourses) <= 0.005 * Double(errors.standing),
            "\(errors.inventedCourses) of \(errors.standing)")
    }

    @Test(arguments: logs) func keepsReportedValues(log: URL) async throws {
        var motion = DerivedMotion()
        for stated in try await Self.fixes(of: log) {
            var fix = motion.complete(stated)
            #expect(stated.speedMetersPerSecond == nil || fix.derived.speedMetersPerSecond == nil)
            #expect(stated.headingDegrees == nil || fix.derived.headingDegrees == nil)
            fix.derived = TrackMotion()
            #expect(fix == stated)
        }
    }
}
