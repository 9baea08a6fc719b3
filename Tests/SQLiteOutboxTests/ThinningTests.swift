import FoundationEssentials
import GNSS
import Reporting
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import SQLiteOutbox

@Suite(.enabled(if: !Sanitizer.isThreadSanitizer, "runs on one thread"))
struct Thinning {
    /// Returns an update `second` seconds after the first, `east` and `north` metres from it.
    private static func update(_ second: Int, east: Double, north: Double, speed: Double?) -> LocationUpdate {
        var update = LocationUpdate(
            timeOfFix: UTCTime(year: 2026, month: 1, day: 5, millisecondOfDay: second * 1000),
            latitude: north / 111_320, longitude: east / 111_320)
        update.speedMetersPerSecond = speed
        return update
    }

    /// A drive, and the indices of the updates that are kept at a tolerance of 10 m.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let updates: [LocationUpdate]
        let kept: [Int]

        init(_ description: String, _ updates: [LocationUpdate], kept: [Int]) {
            testDescription = description
            self.updates = updates
            self.kept = kept
        }
    }

    /// Returns an update every 10 s, each 50 m east of the previous one, for the numbers in `range`. The first one is
    /// `start` metres east.
    private static func straightDrive(
        _ range: Range<Int>, from start: Double = 0, after pause: Int = 0, speed: (Int) -> Double? = { _ in nil }
    ) -> [LocationUpdate] {
        range.map { index in
            let east = start + Double(index - range.lowerBound) * 50
            return update(pause + index * 10, east: east, north: 0, speed: speed(index))
        }
    }

    private static func stop(_ range: Range<Int>, at east: Double, speed: Double?) -> [LocationUpdate] {
        range.map { update($0 * 10, east: east, north: 0, speed: speed) }
    }

    private static var turn: [LocationUpdate] {
        (0..<20).map { index in
            let east = min(index, 10) * 50
            let north = max(0, index - 10) * 50
            return update(index * 10, east: Double(east), north: Double(north), speed: nil)
        }
    }

    static let cases: [Case] = [
        Case("no updates", [], kept: []),
        Case("one update", straightDrive(0..<1), kept: [0]),
        Case("two updates", straightDrive(0..<2), kept: [0, 1]),
        Case("a straight road at a constant speed", straightDrive(0..<20), kept: [0, 19]),
        Case("a turn", turn, kept: [0, 10, 19]),
        Case(
            "a wait without a reported speed: same place, another time",
            straightDrive(0..<10) + stop(10..<20, at: 450, speed: nil) + straightDrive(20..<30, from: 500),
            kept: [0, 9, 19, 29]),
        Case(
            "a stop between two legs",
            straightDrive(0..<10) { _ in 5 } + stop(10..<20, at: 450, speed: 0)
                + straightDrive(20..<30, from: 500) { _ in 5 },
            kept: [0, 9, 10, 19, 20, 29]),
        Case(
            "a stop between two legs, all with shape points without a speed",
            (straightDrive(0..<10) { _ in 5 } + stop(10..<20, at: 450, speed: 0)
                + straightDrive(20..<30, from: 500) { _ in 5 }).enumerated().map { index, update in
                    var update = update
                    if [3, 4, 13, 16, 17, 25].contains(index) { update.speedMetersPerSecond = nil }
                    return update
                },
            kept: [0, 9, 10, 19, 20, 29]),
        Case(
            "the fastest and the slowest of a leg", straightDrive(0..<20) { $0 == 6 ? 8 : $0 == 13 ? 2 : 5 },
            kept: [0, 6, 13, 19]),
        Case(
            "a gap between two drives", straightDrive(0..<10) + straightDrive(10..<20, from: 500, after: 1000),
            kept: [0, 9, 10, 19]),
        Case(
            "a time that goes backwards",
            [(0, 0), (10, 50), (5, 25), (15, 75)].map { update($0.0, east: $0.1, north: 0, speed: nil) },
            kept: [0, 1, 2, 3]),
        Case(
            "at most five minutes between two kept updates",
            (0..<20).map { update($0 * 60, east: 0, north: 0, speed: nil) },
            kept: [0, 4, 9, 14, 19]),
        Case(
            "a jump of 90 km and back",
            [(0, 0), (10, 90_000), (20, 0)].map { update($0.0, east: $0.1, north: 0, speed: nil) },
            kept: [0, 1, 2]),
    ]

    @Test(arguments: cases) func keepsTheExpectedUpdates(row: Case) {
        #expect(TrackThinning.keptIndices(of: row.updates, tolerance: 10) == row.kept)
    }

    @Test func keepsFixedUpdates() {
        let updates = (0..<20).map { Self.update($0 * 10, east: Double($0) * 50, north: 0, speed: nil) }
        #expect(TrackThinning.keptIndices(of: updates, tolerance: 10, fixed: [7]) == [0, 7, 19])
    }

    /// Removed updates were at most the tolerance away from the kept track, no gap is longer than the maximum, and
    /// ends, stops and extremes are kept.
    @Test(arguments: ThinningStep.allCases, [0.0, 2, 15, 200])
    func staysWithinTheTolerance(step: ThinningStep, noise: Double) {
        for seed in 1...20 as ClosedRange<UInt64> {
            let drive = Drives.town(updates: 600, seed: seed, noise: noise)
            let kept = TrackThinning.keptIndices(of: drive, tolerance: step.tolerance)
            let worst = Drives.error(of: kept.map { drive[$0] }, against: drive)
            #expect(worst.meters <= step.tolerance, "seed \(seed)")
            #expect(worst.span <= TrackSimplification.maximumSpan, "seed \(seed)")
            #expect(kept == Set(kept).sorted(), "each once, in order")
            #expect(Self.landmarks(of: drive).isSubset(of: kept), "seed \(seed)")
        }
    }

    /// Logs of real receivers, with their gaps, jumps and times that go backwards. Includes the recordings if they are
    /// next to the checkout (`Fixtures.recordedReceivers`).
    @Test(arguments: ThinningStep.allCases) func staysWithinTheToleranceForRealReceivers(step: ThinningStep) throws {
        var logs = try Self.files(in: Fixtures.url("nmea"), ending: ".nmea")
        if let recorded = Fixtures.recordedReceivers {
            logs += try Self.files(in: recorded.appending(path: "gpsd"), ending: ".log")
        }
        var updates = 0
        for log in logs {
            let drive = try Fixtures.fixes(in: log).map { LocationUpdate($0) }
            updates += drive.count
            let kept = TrackThinning.keptIndices(of: drive, tolerance: step.tolerance)
            for (one, next) in zip(kept, kept.dropFirst()) where next > one + 1 {
                let worst = Drives.error(of: [drive[one], drive[next]], against: Array(drive[one...next]))
                #expect(worst.meters <= step.tolerance && worst.span <= TrackSimplification.maximumSpan, "\(log)")
            }
        }
        #expect(updates > 1000)
    }

    private static func files(in directory: URL, ending: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(ending) }.sorted()
            .map { directory.appending(path: $0) }
    }

    /// Returns the ends, stops and extremes, computed independently of the code under test.
    private static func landmarks(of drive: [LocationUpdate]) -> Set<Int> {
        var found: Set<Int> = [0, drive.count - 1]
        var leg: [Int] = []
        func isStanding(_ index: Int) -> Bool { (drive[index].speedMetersPerSecond ?? 1) < 0.5 }
        func endLeg() {
            let speeds = leg.map { drive[$0].speedMetersPerSecond ?? 0 }
            for speed in [speeds.min(), speeds.max()] {
                if let index = leg.first(where: { drive[$0].speedMetersPerSecond == speed }) { found.insert(index) }
            }
            leg = []
        }
        for index in drive.indices {
            let breaks =
                index > 0 && drive[index - 1].timeOfFix.duration(to: drive[index].timeOfFix) > .seconds(300)
            if breaks { found.formUnion([index - 1, index]) }
            if index > 0, isStanding(index) != isStanding(index - 1) {
                found.insert(isStanding(index) ? index : index - 1)
            }
            if breaks || isStanding(index) { endLeg() }
            if !isStanding(index) { leg.append(index) }
        }
        endLeg()
        return found
    }

    /// Each step thins the result of the previous step, in blocks as in the outbox. The sum of the steps' errors stays
    /// within the bound of the last step.
    @Test(arguments: [1, 2, 3] as [UInt64]) func keepsTheSumOfErrorsWithinEachStepsBound(seed: UInt64) {
        let drive = Drives.town(updates: 5000, seed: seed, noise: 8)
        var left = drive
        for step in ThinningStep.allCases {
            var thinned: [LocationUpdate] = []
            var start = 0
            while start < left.count - 1 {
                let block = Array(left[start..<min(start + 256, left.count)])
                thinned += TrackThinning.keptIndices(of: block, tolerance: step.tolerance).dropLast().map { block[$0] }
                start += block.count - 1
            }
            left = thinned + left.suffix(1)
            let worst = Drives.error(of: left, against: drive)
            #expect(worst.meters <= step.bound)
            #expect(worst.span <= TrackSimplification.maximumSpan)
        }
        #expect(left.count < drive.count / 3)
    }

    @Test func boundsIncludeTheTolerancesOfEarlierSteps() {
        #expect(ThinningStep.allCases.map(\.bound) == [10, 25, 50, 100, 250])
        #expect(ThinningStep.allCases.map(\.tolerance).reduce(0, +) == 250)
    }

    @Test func keepsOnlyTheEndsOfAStraightTrackAcrossTheDateLine() {
        let updates = (0..<20).map { index in
            var update = Self.update(index * 10, east: 0, north: 0, speed: nil)
            update.longitude = 179.995 + Double(index) * 0.0005
            if update.longitude > 180 { update.longitude -= 360 }
            return update
        }
        #expect(TrackThinning.keptIndices(of: updates, tolerance: 10) == [0, 19])
    }
}
