import GNSS
import Testing
import TimeAndRandomness

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
    func divideTimeIntoClockUnits(minimum: Double, step: Int64) {
        #expect(RoundStep.timeStep(atLeast: minimum) == step)
    }

    @Test func divideSpeedsIntoClasses() {
        let labels = (0..<SpeedScale.classCount).map(SpeedScale.label)
        #expect(labels == ["0–10", "10–25", "25–40", "40–60", "60–85", "85–110", "≥ 110"])
        #expect([0, 9.9, 10.1, 50, 111, 900].map { SpeedScale.classIndex(of: $0 / 3.6) } == [0, 0, 1, 3, 6, 6])
    }

    @Test(arguments: [(39.0, 2, true), (41, 2, true), (43, 2, false), (22, 2, false), (300, 6, true), (0, 0, true)])
    func keepTheColourNearAClassBoundary(speed: Double, index: Int, keepsColour: Bool) {
        #expect(SpeedScale.isNearClass(index, speed: speed / 3.6) == keepsColour)
    }

    @Test func excludeStandingFromTheShares() {
        var speeds = SpeedShares()
        for _ in 0..<300 { speeds.add(0.2) }
        #expect(speeds.percentages == nil)
        for speed in [20.0, 20, 20, 80] { speeds.add(speed / 3.6) }
        #expect(speeds.percentages == [0, 75, 0, 0, 25, 0, 0])
    }

    /// Returns a time in March 2026. The digits of `hhmmss` are the hour, minute and second: 103000 is 10:30:00.
    static func time(_ hhmmss: Int, day: Int = 31) -> UTCTime {
        UTCTime(
            year: 2026, month: 3, day: day,
            millisecondOfDay: (hhmmss / 10_000 * 3600 + hhmmss / 100 % 100 * 60 + hhmmss % 100) * 1000)
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

    @Test func shortenLongPausesOnly() throws {
        let short = TimeAxis(
            [(Self.time(100000), Self.time(101000)), (Self.time(101500), Self.time(102000))], x: 0, width: 200)
        #expect(abs(short.pauses[0].width - 50) < 1e-6)
        #expect(abs(short.x(of: Self.time(102000), in: short.runs[1]) - 200) < 1e-6)
        let nights = TimeAxis(
            [(Self.time(100000), Self.time(180000)), (Self.time(90000, day: 34), Self.time(100000, day: 34))], x: 0,
            width: 200)
        #expect(nights.pauses[0].width < 80)
        #expect(abs(nights.x(of: Self.time(100000, day: 34), in: nights.runs[1]) - 200) < 1e-6)
        #expect(
            try abs(#require(nights.x(of: Self.time(120000))) - nights.x(of: Self.time(120000), in: nights.runs[0]))
                < 1e-6)
        #expect(nights.x(of: Self.time(200000)) == nil)
    }

    @Test func showWhereTheTimeGoesBack() {
        let axis = TimeAxis(
            [(Self.time(100000), Self.time(101000)), (Self.time(100000), Self.time(101000))], x: 0, width: 200)
        #expect(axis.pauses[0].duration == .seconds(-600) && axis.pauses[0].width > 1)
    }

    @Test func keepAProfileBounded() {
        var profile = TrackProfile(capacity: 100)
        for second in 0..<100_000 {
            var fix = Fix(
                timeOfFix: UTCTime(millisecondsSince1970: Int64(second % 40_000) * 1000), latitude: 0, longitude: 0)
            fix.speedMetersPerSecond = Double(second % 977)
            profile.add(fix, beginsRun: second % 40_000 == 0 || second % 5000 == 0)
            #expect(profile.samples.count <= 100)
        }
        let extents = profile.samples.compactMap(\.speed)
        #expect(extents.map(\.high).max() == 976 && extents.map(\.low).min() == 0)
        #expect(profile.samples.allSatisfy { $0.from <= $0.to })
        #expect(profile.runs.map(\.count).reduce(0, +) == profile.samples.count)
    }

    /// Each fix starts a run. With a step of 0 s, the time alternates between two moments 8,000 years apart.
    @Test(arguments: [1, -1, 86_400, 0]) func keepTheSamplesOfABrokenProfileShort(secondsBetween: Int64) {
        var profile = TrackProfile(capacity: 100)
        for number in 0..<Int64(20_000) {
            let second = secondsBetween == 0 ? (number % 2) * 250_000_000_000 : number * secondsBetween
            let fix = Fix(timeOfFix: UTCTime(millisecondsSince1970: second * 1000), latitude: 0, longitude: 0)
            profile.add(fix, beginsRun: true)
            #expect(profile.samples.count <= 100)
        }
        guard let first = profile.samples.map(\.from).min(), let last = profile.samples.map(\.to).max() else { return }
        let span = first.duration(to: last)
        #expect(profile.sampleLength <= (secondsBetween == 0 ? span * 4 : span / 20))
    }

    @Test(arguments: [
        (0.0, "0 m"), (640, "640 m"), (999.6, "1.00 km"), (4567, "4.57 km"), (45_678, "45.7 km"),
        (1_234_567, "1,235 km"),
        (12_345_678, "12,346 km"),
    ])
    func formatDistancesWithSensibleDigits(meters: Double, text: String) {
        #expect(FigureText.distance(meters) == text)
    }

    @Test(arguments: [
        (0.5, "0.5 s"), (34, "34 s"), (60, "1 min"), (93, "1 min 33 s"), (8040, "2 h 14 min"), (172_799, "48 h"),
        (273_600, "3 days 4 h"), (-93, "-1 min 33 s"),
    ])
    func formatDurations(seconds: Double, text: String) { #expect(FigureText.duration(.seconds(seconds)) == text) }

    @Test func formatSizesAndDecimals() {
        #expect(FigureText.bytes(91_926) == "91.9 kB" && FigureText.bytes(1) == "1 byte")
        #expect(FigureText.bytes(999_949_999) == "999.9 MB" && FigureText.bytes(57_312_000_000) == "57.3 GB")
        #expect(FigureText.decimal(-0.04, places: 1) == "0.0" || FigureText.decimal(-0.04, places: 1) == "-0.0")
    }
}
