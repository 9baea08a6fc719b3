import GNSS
import Testing
import TimeAndChance
import WaypostTestSupport

@testable import Reporting

@Suite struct PlausibleFixes {
    static let floor = UTCTime(year: 2026, month: 1, day: 1)

    @Test func aSteadyDrive() {
        let plausibility = Box(Plausibility(earliest: Self.floor))
        for second in 0..<600 {
            #expect(plausibility.judge(.sample(Double(second), north: Double(second) * 30), latest: nil) == nil)
        }
    }

    @Test(arguments: [
        (91.0, 0.0, FixRejection.positionOutOfRange), (-90.5, 0, .positionOutOfRange), (10, 181, .positionOutOfRange),
        (.nan, 0, .positionOutOfRange), (10, .infinity, .positionOutOfRange), (0, 0, .nullIsland),
    ]) func noImpossiblePosition(latitude: Double, longitude: Double, rejection: FixRejection) {
        var fix = Fix.sample(0)
        (fix.latitude, fix.longitude) = (latitude, longitude)
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(fix, latest: nil) == rejection)
    }

    @Test func nothingBeforeTheBuildDate() {
        var fix = Fix.sample(0)
        fix.timeOfFix = UTCTime(year: 1980, month: 1, day: 6)
        let live = Box(Plausibility(earliest: Self.floor))
        #expect(live.judge(fix, latest: nil) == .before(Self.floor))
        let recorded = Box(Plausibility(earliest: nil))
        #expect(recorded.judge(fix, latest: nil) == nil)
    }

    @Test func nothingFromTheFuture() {
        let limit = Fix.sample(100).timeOfFix
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(101), latest: limit) == .after(limit))
        #expect(plausibility.judge(.sample(100), latest: limit) == nil)
    }

    @Test func noOldTimeAgain() {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(10), latest: nil) == nil)
        #expect(plausibility.judge(.sample(10), latest: nil) == .notAdvancing)
        #expect(plausibility.judge(.sample(9), latest: nil) == .notAdvancing)
        #expect(plausibility.judge(.sample(11), latest: nil) == nil)
    }

    /// A receiver begins with its last known place, 185 km off, and says that it is an estimate.
    @Test func noEstimateBeforeAMeasuredPosition() {
        let plausibility = Box(Plausibility(earliest: nil))
        for second in 0..<30 {
            #expect(plausibility.judge(.estimate(Double(second)), latest: nil) == .estimatedBeforeMeasured)
        }
        #expect(plausibility.judge(.sample(30, north: 185_000), latest: nil) == nil)
        #expect(plausibility.judge(.estimate(31, north: 185_010), latest: nil) == nil)
        #expect(plausibility.judge(.estimate(32), latest: nil) == .jump(meters: 185_010))
    }

    @Test func noJumpUntilThreeAgree() {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(0), latest: nil) == nil)
        #expect(plausibility.judge(.sample(1, north: 5000), latest: nil) == .jump(meters: 5000))
        #expect(plausibility.judge(.sample(2, north: 20), latest: nil) == nil)
        #expect(plausibility.judge(.sample(3, north: 90_000), latest: nil) == .jump(meters: 89_980))
        #expect(plausibility.judge(.sample(4, north: 90_010), latest: nil) == .jump(meters: 89_990))
        #expect(plausibility.judge(.sample(5, north: 90_020), latest: nil) == nil)
        #expect(plausibility.judge(.sample(6, north: 90_030), latest: nil) == nil)
    }

    /// Metres and speeds a second after a fix at 10 m/s with an accuracy of 5 m.
    static let seconds: [(north: Double, speed: Double?, rejection: FixRejection?)] = [
        (10, 10, nil), (0, 0, nil), (25, 20, nil), (35, 10, nil),
        // A garage exit: the speeds say that it cannot have gone that far.
        (50, 10, .jump(meters: 50)), (80, nil, nil), (100, nil, .jump(meters: 100)),
        (10, 60, .acceleration(metersPerSecondSquared: 50)),
    ]

    @Test(arguments: seconds)
    func noStepThatItsSpeedsDoNotExplain(north: Double, speed: Double?, rejection: FixRejection?) {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(0, speed: 10), latest: nil) == nil)
        #expect(plausibility.judge(.sample(1, north: north, speed: speed), latest: nil) == rejection)
    }

    @Test func anEmergencyStop() {
        let plausibility = Box(Plausibility(earliest: nil))
        var north = 0.0
        for (second, speed) in [30.0, 21, 12, 3, 0, 0].enumerated() {
            #expect(plausibility.judge(.sample(Double(second), north: north, speed: speed), latest: nil) == nil)
            north += speed
        }
    }

    @Test func aReceiverWhoseClockWasSetBack() {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(5000), latest: nil) == nil)
        let verdicts = (0..<4).map { plausibility.judge(.sample(Double($0)), latest: nil) }
        #expect(verdicts == [.notAdvancing, .notAdvancing, nil, nil])
    }

    @Test func noWildDateThatStandsAlone() {
        let plausibility = Box(Plausibility(earliest: nil, expected: Fix.sample(0).timeOfFix))
        var wild = Fix.sample(1)
        wild.timeOfFix = UTCTime(year: 2040, month: 1, day: 1)
        #expect(plausibility.judge(wild, latest: nil) == .unconfirmedTime)
        #expect(plausibility.judge(.sample(2), latest: nil) == nil)
        #expect(plausibility.judge(wild, latest: nil) == .unconfirmedTime)
        #expect(plausibility.judge(.sample(3), latest: nil) == nil)
    }

    @Test func aFirstFixFarFromTheHostsClockWhenThreeAgree() {
        let plausibility = Box(Plausibility(earliest: nil, expected: UTCTime(year: 1970, month: 1, day: 1)))
        let verdicts = (0..<4).map { plausibility.judge(.sample(Double($0)), latest: nil) }
        #expect(verdicts == [.unconfirmedTime, .unconfirmedTime, nil, nil])
    }

    @Test func thatEarlierTimesWereWrong() {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.verdict(on: .sample(90_000_000)) == .accepted(overrulesEarlier: false))
        for second in 0..<2 {
            #expect(plausibility.verdict(on: .sample(Double(second))) == .rejected(.notAdvancing))
        }
        #expect(plausibility.verdict(on: .sample(2)) == .accepted(overrulesEarlier: true))
        #expect(plausibility.verdict(on: .sample(3)) == .accepted(overrulesEarlier: false))
    }

    /// Seconds of the fixes after a restart, the newest in the outbox being of second 10, and what is believed of them.
    static let restarts: [(seconds: [Double], verdicts: [FixVerdict])] = [
        // As ever.
        ([11, 12], [.accepted(overrulesEarlier: false), .accepted(overrulesEarlier: false)]),
        // The receiver says the last one again.
        ([10, 11], [.rejected(.notAdvancing), .accepted(overrulesEarlier: false)]),
        // What is in the outbox is in the future.
        (
            [7, 8, 9, 10],
            [.rejected(.notAdvancing), .rejected(.notAdvancing)]
                + [.accepted(overrulesEarlier: true), .accepted(overrulesEarlier: false)]
        ),
        // A few old ones out of a buffer.
        ([3, 4, 11], [.rejected(.notAdvancing), .rejected(.notAdvancing), .accepted(overrulesEarlier: false)]),
    ]

    @Test(arguments: restarts)
    func noTimeBeforeTheOutboxsNewestUntilThreeAgree(seconds: [Double], verdicts: [FixVerdict]) {
        let plausibility = Box(
            Plausibility(earliest: nil, expected: Fix.sample(0).timeOfFix, newest: LocationUpdate(.sample(10))))
        #expect(seconds.map { plausibility.verdict(on: .sample($0)) } == verdicts)
    }

    /// Four seconds after the newest update in the outbox, and after a night.
    @Test(arguments: [(4.0, 111_000.0, FixRejection.jump(meters: 111_000)), (4, 300, nil), (50_000, 111_000, nil)])
    func noFirstFixFarFromTheOutboxsNewest(second: Double, north: Double, rejection: FixRejection?) {
        let plausibility = Box(
            Plausibility(
                earliest: nil, expected: Fix.sample(second).timeOfFix, newest: LocationUpdate(.sample(0))))
        #expect(plausibility.judge(.sample(second, north: north), latest: nil) == rejection)
        let next = plausibility.judge(.sample(second + 1, north: rejection == nil ? north : 0), latest: nil)
        #expect(next == nil)
    }

    @Test func aFirstPlaceFarFromAWrongNewestWhenThreeAgree() {
        let plausibility = Box(Plausibility(earliest: nil, newest: LocationUpdate(.sample(0, north: 111_000))))
        let verdicts = (0..<4).map { plausibility.judge(.sample(4 + Double($0)), latest: nil) }
        #expect(verdicts == [.jump(meters: 111_000), .jump(meters: 111_000), nil, nil])
    }

    /// Speeds and spacings of fixes, also faster than any vehicle on a road; `stated` is a part of the true speed.
    @Test(arguments: [(89.0, 2.0), (100, 1), (250, 1), (250, 0.2), (89, 15), (30, 2)])
    func anySpeedOnWhichThreeAgree(speed: Double, spacing: Double) {
        for stated in [nil, 0, 1] as [Double?] {
            let plausibility = Box(Plausibility(earliest: nil))
            let rejected = (0..<60).count { step in
                let second = Double(step) * spacing
                let error = Double(step * 7 % 5) / 2 - 1
                let fix = Fix.sample(second, north: second * speed + error, speed: stated.map { $0 * speed })
                return plausibility.judge(fix, latest: nil) != nil
            }
            #expect(rejected <= (stated == 1 ? 0 : 2), "\(String(describing: stated))")
        }
    }

    /// A receiver that states no radius, or no speed either: its track shows both.
    @Test(arguments: [12.0, nil], [60.0, 200])
    func noOutlierThatTheTrackContradicts(speed: Double?, meters: Double) {
        let fixes = (0..<60).map { second in
            let outlier = second % 10 == 9 ? meters : 0
            return Fix.sample(
                Double(second), north: Double(second) * 12 + outlier, speed: speed, heading: speed.map { _ in 0 },
                accuracy: nil)
        }
        let intake = ReplayedIntake(fixes)
        #expect(intake.rejected.map(\.fix) == fixes.enumerated().filter { $0.offset % 10 == 9 }.map(\.element))
    }

    @Test func aStartOfAVehicleWhoseSpeedIsNotStated() {
        // Half a g from standstill, which the track shows later.
        let fixes = (0..<60).map { second in
            let moving = Double(max(0, second - 30))
            return Fix.sample(Double(second), north: min(moving, 8) * min(moving, 8) * 2.5 + max(0, moving - 8) * 40)
        }
        #expect(ReplayedIntake(fixes).rejected.isEmpty)
    }

    @Test func noMotionThatNoVehicleHas() {
        let plausibility = Box(Plausibility(earliest: nil))
        let north = [0.0, 10, 20, 2020, 4500, -900, 700, 80]
        let verdicts = north.enumerated().map { plausibility.judge(.sample(Double($0), north: $1), latest: nil) }
        #expect(verdicts.map { $0 == nil } == [true, true, true, false, false, false, false, true])
    }

    @Test func aNightInTheGarageAfterThreeFixes() {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(0), latest: nil) == nil)
        let verdicts = (0..<3).map { plausibility.verdict(on: .sample(50_000 + Double($0))) }
        #expect(verdicts.last == .accepted(overrulesEarlier: false))
    }

    @Test func alternatingJumpsNever() {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(0), latest: nil) == nil)
        for second in 1..<40 {
            let away = second % 2 == 0 ? 200_000.0 : -200_000
            #expect(plausibility.judge(.sample(Double(second), north: away), latest: nil) != nil)
        }
    }

    @Test func aDriveAcrossTheDateLine() {
        var west = Fix.sample(0)
        west.longitude = 179.9999
        var east = Fix.sample(1)
        east.longitude = -179.9999
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(west, latest: nil) == nil)
        #expect(plausibility.judge(east, latest: nil) == nil)
    }

    @Test(arguments: [(0.0, 111_195.0), (60, 55_597), (-60, 55_597), (89.9, 194)])
    func measuresADegreeOfLongitude(latitude: Double, meters: Double) {
        var (one, other) = (Fix.sample(0), Fix.sample(0))
        (one.latitude, one.longitude) = (latitude, 10)
        (other.latitude, other.longitude) = (latitude, 11)
        #expect(abs(one.distance(to: other) - meters) < meters * 0.001 + 1)
    }
}

extension Box where Value == Plausibility {
    func judge(_ fix: Fix, latest: UTCTime?) -> FixRejection? {
        if case .rejected(let rejection) = verdict(on: fix, latest: latest) { rejection } else { nil }
    }

    func verdict(on fix: Fix, latest: UTCTime? = nil) -> FixVerdict { apply { $0.judge(fix, latest: latest) } }
}

extension Fix {
    fileprivate static func estimate(_ second: Double, north: Double = 0) -> Fix {
        var fix = sample(second, north: north)
        fix.quality = .estimated
        return fix
    }
}
