import FoundationEssentials
import GNSS
import Testing
import WaypostTestSupport

@testable import Reporting

/// Recordings of real receivers, which some machines have next to the checkout (`Fixtures.recordedReceivers`).
@Suite(.enabled(if: Fixtures.recordedReceivers != nil, "no recorded receivers next to the checkout"))
struct RecordedDrives {
    private static let logs: [URL] = {
        guard let directory = Fixtures.recordedReceivers?.appending(path: "gpsd") else { return [] }
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
        return (names ?? []).filter { $0.hasSuffix(".log") }.sorted().map { directory.appending(path: $0) }
    }()

    @Test(arguments: logs) func areAccepted(log: URL) throws {
        var plausibility = Plausibility(earliest: nil)
        var rejections: [FixRejection] = []
        for fix in try Fixtures.fixes(in: log) {
            if case .rejected(let rejection) = plausibility.judge(fix, latest: nil) { rejections.append(rejection) }
        }
        // Two recordings consist of parts in the wrong order.
        let expected = ["bt451.log", "humminbird-M37.log"].contains(log.lastPathComponent) ? 2 : 0
        #expect(rejections == [FixRejection](repeating: .notAdvancing, count: expected))
    }

    @Test(arguments: logs) func keepTheirTimesAndMoveOnlySlightly(log: URL) throws {
        var filter = MotionFilter()
        for fix in try Fixtures.fixes(in: log) {
            let filtered = filter.filtered(fix)
            #expect(filtered.timeOfFix == fix.timeOfFix)
            let errors = (fix.horizontalAccuracyMeters ?? 25) * 2
            #expect(filtered.distance(to: fix) <= max(15, errors * 1.5) * 2)
        }
    }
}
