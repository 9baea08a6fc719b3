import GNSS
import Testing
import TimeAndChance

@testable import TrackDrawing

@Suite struct MapScales {
    @Test(arguments: [
        (0.03, 0.05), (0.05, 0.05), (0.7, 1), (1, 1), (1.01, 2), (2.5, 5), (5, 5), (5.5, 10), (99, 100), (1234, 2000),
        (600_000, 1_000_000),
    ])
    func growInRoundSteps(minimum: Double, step: Double) {
        #expect(abs(RoundStep.step(atLeast: minimum) - step) < step * 1e-9)
    }

    @Test(
        arguments: [
            (0.2, 1), (1, 1), (3, 5), (20, 30), (61, 120), (3601, 7200), (80_000, 86_400), (200_000, 432_000),
        ] as [(Double, Int64)])
    func divideTimeAsClocksDo(minimum: Double, step: Int64) { #expect(RoundStep.seconds(atLeast: minimum) == step) }

    @Test(
        arguments: [
            (0, 1, 5, "≥ 4"), (1.5, 1, 6, "≥ 5"), (8, 5, 6, "≥ 25"), (14.2, 10, 5, "≥ 40"), (22.4, 15, 6, "≥ 75"),
            (36, 20, 7, "≥ 120"), (100, 75, 5, "≥ 300"), (280, 150, 7, "≥ 900"),
        ] as [(Double, Double, Int, String)])
    func haveRoundClassesOfSpeed(top: Double, step: Double, count: Int, last: String) {
        let scale = SpeedScale(top: top)
        #expect(scale.step == step)
        #expect(scale.count == count)
        #expect(scale.label(of: count - 1) == last)
        #expect(scale.index(of: 1000) == count - 1 && scale.index(of: 0) == 0)
        let colors = (0..<count).map(scale.color)
        #expect(Set(colors).count == count && colors.allSatisfy { (0..<SpeedScale.palette).contains($0) })
    }

    @Test func forgiveASpeedAtABound() {
        let scale = SpeedScale(top: 14.2)
        #expect(scale.isAbout(50.5 / 3.6, inClass: 4) && scale.isAbout(39 / 3.6, inClass: 4))
        #expect(!scale.isAbout(35 / 3.6, inClass: 4))
    }

    @Test func doNotFollowOneWildSpeed() {
        var speeds = SpeedHistogram()
        for _ in 0..<1000 { speeds.add(13.9) }
        speeds.add(250)
        #expect(speeds.usualTop < 15)
    }

    static func time(_ clock: Int, day: Int = 31) -> UTCTime {
        UTCTime(
            year: 2026, month: 3, day: day,
            millisecondOfDay: (clock / 10_000 * 3600 + clock / 100 % 100 * 60 + clock % 100) * 1000)
    }

    @Test(arguments: [
        ([(time(103000), time(103459))], ["10:30", "10:31", "10:32", "10:33", "10:34"], ["2026-03-31"]),
        ([(time(103007), time(103020))], ["10:30:10", "10:30:15", "10:30:20"], ["2026-03-31"]),
        ([(time(103007), time(103007))], ["10:30:07"], ["2026-03-31"]),
        (
            [(time(230000), time(10000, day: 32))], ["23:00", "23:30", "00:00", "00:30", "01:00"],
            ["2026-03-31", "2026-04-01"]
        ),
        (
            [(time(0, day: 1), time(0, day: 11))],
            ["2026-03-02", "2026-03-04", "2026-03-06", "2026-03-08", "2026-03-10"], []
        ),
        (
            [(time(80000), time(120000)), (time(80000), time(120000))], ["08:00", "10:00", "12:00", "10:00", "12:00"],
            ["2026-03-31"]
        ),
    ])
    func markRoundTimes(runs: [(UTCTime, UTCTime)], texts: [String], dates: [String]) {
        let ticks = TimeAxis(runs.map { ($0.0, $0.1) }, x: 40, width: 500).ticks(distance: 84)
        #expect(ticks.map(\.text) == texts)
        #expect(ticks.compactMap(\.date) == dates)
        #expect(ticks.allSatisfy { $0.x >= 40 && $0.x <= 540.001 })
    }

    @Test func cutLongPausesAndShowShortOnesAsTheyAre() {
        let short = TimeAxis(
            [(Self.time(100000), Self.time(101000)), (Self.time(101500), Self.time(102000))], x: 0, width: 200)
        #expect(short.pauses.map(\.isCut) == [false])
        #expect(
            abs(short.pauses[0].width - 50) < 1e-6
                && abs(short.x(of: Self.time(102000), in: short.stretches[1]) - 200) < 1e-6)
        let night = TimeAxis(
            [(Self.time(100000), Self.time(180000)), (Self.time(90000, day: 34), Self.time(100000, day: 34))], x: 0,
            width: 200)
        #expect(night.pauses.map(\.isCut) == [true])
        #expect(night.pauses[0].width < 80)
        #expect(abs(night.x(of: Self.time(100000, day: 34), in: night.stretches[1]) - 200) < 1e-6)
        #expect(night.stretch(holding: Self.time(120000))?.x == 0)
        #expect(night.stretch(holding: Self.time(200000)) == nil)
    }

    @Test func keepAProfileBounded() {
        var profile = TrackProfile(capacity: 100)
        for second in 0..<100_000 {
            var fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second % 40_000) * 1000), latitude: 0, longitude: 0)
            fix.speedMetersPerSecond = Double(second % 977)
            profile.add(fix, beginsRun: second % 40_000 == 0 || second % 5000 == 0)
            #expect(profile.runs.reduce(0) { $0 + $1.slots.count } <= 100)
        }
        let extents = profile.runs.flatMap(\.slots).compactMap(\.speed)
        #expect(extents.map(\.high).max() == 976 && extents.map(\.low).min() == 0)
        for run in profile.runs {
            #expect(zip(run.slots, run.slots.dropFirst()).allSatisfy { $0.number < $1.number })
            #expect(run.from <= run.to)
        }
    }

    /// Each fix a run of its own: slots grow with the time that there is, not with how often it breaks.
    @Test(arguments: [1, -1, 86_400, 0]) func keepTheSlotsOfABrokenProfileShort(secondsBetween: Int64) {
        var profile = TrackProfile(capacity: 100)
        for number in 0..<Int64(20_000) {
            // With no step at all: to and fro over eight thousand years.
            let second = secondsBetween == 0 ? (number % 2) * 250_000_000_000 : number * secondsBetween
            let fix = Fix(timeOfFix: UTCTime(millisecondsSince1970: second * 1000), latitude: 0, longitude: 0)
            profile.add(fix, beginsRun: true)
            #expect(profile.runs.reduce(0) { $0 + $1.slots.count } <= 100)
        }
        guard let first = profile.runs.map(\.from).min(), let last = profile.runs.map(\.to).max() else { return }
        let span = last.millisecondsSince1970 - first.millisecondsSince1970
        #expect(profile.slotMilliseconds <= max(span / 20, secondsBetween == 0 ? span * 4 : 0))
    }

    @Test(arguments: [
        (0.0, "0 m"), (640, "640 m"), (999.6, "1.00 km"), (4567, "4.57 km"), (45_678, "45.7 km"),
        (1_234_567, "1,235 km"),
        (12_345_678, "12,346 km"),
    ])
    func sayDistancesWithSensibleDigits(meters: Double, text: String) { #expect(FigureText.distance(meters) == text) }

    @Test(arguments: [
        (0.5, "0.5 s"), (34, "34 s"), (60, "1 min"), (93, "1 min 33 s"), (8040, "2 h 14 min"), (172_799, "47 h 59 min"),
        (273_600, "3 days 4 h"), (-93, "-1 min 33 s"),
    ])
    func sayHowLong(seconds: Double, text: String) { #expect(FigureText.duration(.seconds(seconds)) == text) }

    @Test func sayOneAndMany() {
        #expect(FigureText.count(1, "fix", "fixes") == "1 fix")
        #expect(FigureText.count(0, "line") == "0 lines")
        #expect(FigureText.grouped(1234) == "1,234" && FigureText.grouped(1_234_567) == "1,234,567")
        #expect(FigureText.bytes(91_926) == "91.9 kB" && FigureText.bytes(1) == "1 byte")
        #expect(FigureText.decimal(-0.04, 1) == "0.0" || FigureText.decimal(-0.04, 1) == "-0.0")
    }
}
