import GNSS
import Testing
import TimeAndRandomness
import WaypostTestSupport

@testable import Reporting

@Suite struct PlausibleFixes {
    static let earliestTime = UTCTime(year: 2026, month: 1, day: 1)

    /// Fixes that are judged one after another.
    struct FixSequence: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var expected: UTCTime?
        var newest: Fix?
        var latest: UTCTime?
        /// Each fix with its rejection; `nil` if it is accepted.
        let fixes: [JudgedFix]
    }

    typealias JudgedFix = (fix: Fix, rejection: FixRejection?)

    static let sequences = [
        FixSequence(
            testDescription: "no time in the future", latest: Fix.sample(100).timeOfFix,
            fixes: [(.sample(101), .after(Fix.sample(100).timeOfFix)), (.sample(100), nil)]),
        FixSequence(
            testDescription: "no earlier time",
            fixes: [(.sample(10), nil), (.sample(10), .notAdvancing), (.sample(9), .notAdvancing), (.sample(11), nil)]),
        FixSequence(
            testDescription: "a jump, after three fixes agree",
            fixes: [
                (.sample(0), nil), (.sample(1, north: 5000), .jump(meters: 5000)), (.sample(2, north: 20), nil),
                (.sample(3, north: 90_000), .jump(meters: 89_980)), (.sample(4, north: 90_010), .jump(meters: 89_990)),
                (.sample(5, north: 90_020), nil), (.sample(6, north: 90_030), nil),
            ]),
        FixSequence(
            testDescription: "an emergency stop",
            fixes: [(0.0, 30.0), (30, 21), (51, 12), (63, 3), (66, 0), (66, 0)].enumerated().map {
                second, row -> JudgedFix in
                (.sample(Double(second), north: row.0, speed: row.1), nil)
            }),
        FixSequence(
            testDescription: "a clock that was set back",
            fixes: [
                (.sample(5000), nil), (.sample(0), .notAdvancing), (.sample(1), .notAdvancing), (.sample(2), nil),
                (.sample(3), nil),
            ]),
        FixSequence(
            testDescription: "no wrong date that isn't confirmed", expected: Fix.sample(0).timeOfFix,
            fixes: [
                (.sample(442_000_000), .unconfirmedTime), (.sample(2), nil), (.sample(442_000_000), .unconfirmedTime),
                (.sample(3), nil),
            ]),
        FixSequence(
            testDescription: "a first fix far from the host's clock, after three fixes agree",
            expected: UTCTime(year: 1970, month: 1, day: 1),
            fixes: [
                (.sample(0), .unconfirmedTime), (.sample(1), .unconfirmedTime), (.sample(2), nil), (.sample(3), nil),
            ]),
        FixSequence(
            testDescription: "a first place far from a wrong newest update, after three fixes agree",
            newest: .sample(0, north: 111_000),
            fixes: [
                (.sample(4), .jump(meters: 111_000)), (.sample(5), .jump(meters: 111_000)), (.sample(6), nil),
                (.sample(7), nil),
            ]),
        FixSequence(
            testDescription: "a night in the garage, after three fixes agree",
            fixes: [
                (.sample(0), nil), (.sample(50_000), .unconfirmedTime), (.sample(50_001), .unconfirmedTime),
                (.sample(50_002), nil),
            ]),
        FixSequence(
            testDescription: "a drive across the date line",
            fixes: [(.sample(0, longitude: 179.9999), nil), (.sample(1, longitude: -179.9999), nil)]),
        FixSequence(
            testDescription: "no estimate before a measured position, such as the last known place",
            fixes: (0..<30).map { second -> JudgedFix in (.estimate(Double(second)), .estimatedBeforeMeasured) } + [
                (.sample(30, north: 185_000), nil), (.estimate(31, north: 185_010), nil),
                (.estimate(32), .jump(meters: 185_010)),
            ]),
    ]

    @Test(arguments: sequences) func areRecognisedInASequence(row: FixSequence) {
        var plausibility = Plausibility(
            earliest: nil, expected: row.expected, newest: row.newest.map { LocationUpdate($0) })
        let rejections = row.fixes.map { plausibility.judge($0.fix, latest: row.latest).rejection }
        #expect(rejections == row.fixes.map(\.rejection))
    }

    @Test func includeASteadyDrive() {
        let plausibility = Box(Plausibility(earliest: Self.earliestTime))
        for second in 0..<600 {
            #expect(plausibility.judge(.sample(Double(second), north: Double(second) * 30), latest: nil) == nil)
        }
    }

    @Test(arguments: [
        (91.0, 0.0, FixRejection.positionOutOfRange), (-90.5, 0, .positionOutOfRange), (10, 181, .positionOutOfRange),
        (.nan, 0, .positionOutOfRange), (10, .infinity, .positionOutOfRange), (0, 0, .nullIsland),
    ]) func excludeImpossiblePositions(latitude: Double, longitude: Double, rejection: FixRejection) {
        var fix = Fix.sample(0)
        (fix.latitude, fix.longitude) = (latitude, longitude)
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(fix, latest: nil) == rejection)
    }

    @Test func excludeFixesBeforeTheBuildDate() {
        var fix = Fix.sample(0)
        fix.timeOfFix = UTCTime(year: 1980, month: 1, day: 6)
        let live = Box(Plausibility(earliest: Self.earliestTime))
        #expect(live.judge(fix, latest: nil) == .before(Self.earliestTime))
        let recorded = Box(Plausibility(earliest: nil))
        #expect(recorded.judge(fix, latest: nil) == nil)
    }

    /// The distance and speed one second after a fix with 10 m/s and an accuracy of 5 m, and the rejection.
    static let steps: [(north: Double, speed: Double?, rejection: FixRejection?)] = [
        (10, 10, nil), (0, 0, nil), (25, 20, nil), (35, 10, nil),
        // The exit of a garage: at these speeds, the vehicle can't have moved that far.
        (50, 10, .jump(meters: 50)), (80, nil, nil), (100, nil, .jump(meters: 100)),
        (10, 60, .acceleration(metersPerSecondSquared: 50)),
    ]

    @Test(arguments: steps)
    func excludeStepsThatTheSpeedsDoNotExplain(north: Double, speed: Double?, rejection: FixRejection?) {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(0, speed: 10), latest: nil) == nil)
        #expect(plausibility.judge(.sample(1, north: north, speed: speed), latest: nil) == rejection)
    }

    @Test func overruleEarlierWrongTimes() {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.verdict(on: .sample(90_000_000)) == .accepted(overrulesEarlier: false))
        for second in 0..<2 {
            #expect(plausibility.verdict(on: .sample(Double(second))) == .rejected(.notAdvancing))
        }
        #expect(plausibility.verdict(on: .sample(2)) == .accepted(overrulesEarlier: true))
        #expect(plausibility.verdict(on: .sample(3)) == .accepted(overrulesEarlier: false))
    }

    /// The seconds of fixes after a restart, when the newest update in the outbox is of second 10, and their verdicts.
    static let restarts: [(seconds: [Double], verdicts: [FixVerdict])] = [
        ([11, 12], [.accepted(overrulesEarlier: false), .accepted(overrulesEarlier: false)]),
        // The receiver repeats the last fix.
        ([10, 11], [.rejected(.notAdvancing), .accepted(overrulesEarlier: false)]),
        // The outbox's newest update is in the future.
        (
            [7, 8, 9, 10],
            [.rejected(.notAdvancing), .rejected(.notAdvancing)]
                + [.accepted(overrulesEarlier: true), .accepted(overrulesEarlier: false)]
        ),
        // Some old fixes from a buffer.
        ([3, 4, 11], [.rejected(.notAdvancing), .rejected(.notAdvancing), .accepted(overrulesEarlier: false)]),
    ]

    @Test(arguments: restarts)
    func excludeTimesBeforeTheNewestStoredUpdateUntilThreeAgree(seconds: [Double], verdicts: [FixVerdict]) {
        let plausibility = Box(
            Plausibility(earliest: nil, expected: Fix.sample(0).timeOfFix, newest: LocationUpdate(.sample(10))))
        #expect(seconds.map { plausibility.verdict(on: .sample($0)) } == verdicts)
    }

    /// A first fix four seconds after the newest update in the outbox, or after a night; its distance north, and the
    /// rejection.
    @Test(arguments: [(4.0, 111_000.0, FixRejection.jump(meters: 111_000)), (4, 300, nil), (50_000, 111_000, nil)])
    func excludeAFirstFixFarFromTheNewestStoredUpdate(second: Double, north: Double, rejection: FixRejection?) {
        let plausibility = Box(
            Plausibility(
                earliest: nil, expected: Fix.sample(second).timeOfFix, newest: LocationUpdate(.sample(0))))
        #expect(plausibility.judge(.sample(second, north: north), latest: nil) == rejection)
        let next = plausibility.judge(.sample(second + 1, north: rejection == nil ? north : 0), latest: nil)
        #expect(next == nil)
    }

    /// Speeds and intervals of fixes, including speeds beyond those of any road vehicle. `stated` is a factor of the
    /// true speed.
    @Test(arguments: [(89.0, 2.0), (100, 1), (250, 1), (250, 0.2), (89, 15), (30, 2)])
    func includeAnySpeedThatThreeFixesConfirm(speed: Double, spacing: Double) {
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

    /// The receiver states no radius, and in one case no speed. The track shows both.
    @Test(arguments: [12.0, nil], [60.0, 200])
    func excludeOutliersThatTheTrackContradicts(speed: Double?, meters: Double) {
        let fixes = (0..<60).map { second in
            let outlier = second % 10 == 9 ? meters : 0
            return Fix.sample(
                Double(second), north: Double(second) * 12 + outlier, speed: speed, heading: speed.map { _ in 0 },
                accuracy: nil)
        }
        let intake = ReplayedIntake(fixes)
        #expect(intake.rejected.map(\.fix) == fixes.enumerated().filter { $0.offset % 10 == 9 }.map(\.element))
    }

    @Test func includeAStartWithoutAReportedSpeed() {
        // An acceleration of 0.5 g from standstill, which the track shows later.
        let fixes = (0..<60).map { second in
            let moving = Double(max(0, second - 30))
            return Fix.sample(Double(second), north: min(moving, 8) * min(moving, 8) * 2.5 + max(0, moving - 8) * 40)
        }
        #expect(ReplayedIntake(fixes).rejected.isEmpty)
    }

    @Test func excludeImpossibleMotion() {
        let plausibility = Box(Plausibility(earliest: nil))
        let north = [0.0, 10, 20, 2020, 4500, -900, 700, 80]
        let verdicts = north.enumerated().map { plausibility.judge(.sample(Double($0), north: $1), latest: nil) }
        #expect(verdicts.map { $0 == nil } == [true, true, true, false, false, false, false, true])
    }

    @Test func excludeAlternatingJumps() {
        let plausibility = Box(Plausibility(earliest: nil))
        #expect(plausibility.judge(.sample(0), latest: nil) == nil)
        for second in 1..<40 {
            let away = second % 2 == 0 ? 200_000.0 : -200_000
            #expect(plausibility.judge(.sample(Double(second), north: away), latest: nil) != nil)
        }
    }

    @Test(arguments: [(0.0, 111_195.0), (60, 55_597), (-60, 55_597), (89.9, 194)])
    func haveDistancesThatDependOnTheLatitude(latitude: Double, meters: Double) {
        var (one, other) = (Fix.sample(0), Fix.sample(0))
        (one.latitude, one.longitude) = (latitude, 10)
        (other.latitude, other.longitude) = (latitude, 11)
        #expect(abs(one.distance(to: other) - meters) < meters * 0.001 + 1)
    }
}

extension Box where Value == Plausibility {
    func judge(_ fix: Fix, latest: UTCTime?) -> FixRejection? {
        verdict(on: fix, latest: latest).rejection
    }

    func verdict(on fix: Fix, latest: UTCTime? = nil) -> FixVerdict { apply { $0.judge(fix, latest: latest) } }
}

extension FixVerdict {
    fileprivate var rejection: FixRejection? { if case .rejected(let rejection) = self { rejection } else { nil } }
}

extension Fix {
    fileprivate static func sample(_ second: Double, longitude: Double) -> Fix {
        var fix = sample(second)
        fix.longitude = longitude
        return fix
    }

    fileprivate static func estimate(_ second: Double, north: Double = 0) -> Fix {
        var fix = sample(second, north: north)
        fix.quality = .estimated
        return fix
    }
}
