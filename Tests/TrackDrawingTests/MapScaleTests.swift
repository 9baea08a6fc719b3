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

    /// Speeds in km/h, each as often as it says.
    static func histogram(_ speeds: [(kilometers: Double, count: Int)]) -> SpeedHistogram {
        var histogram = SpeedHistogram()
        for (kilometers, count) in speeds {
            for _ in 0..<count { histogram.add(kilometers / 3.6) }
        }
        return histogram
    }

    static let driven: [(String, [(kilometers: Double, count: Int)], [String])] = [
        ("parked", [(0.1, 500), (0.6, 20)], ["up to 1"]),
        ("one speed", [(49.2, 100), (50.4, 300), (51.3, 100)], ["about 50"]),
        ("one speed, and waits", [(0.2, 900), (80.0, 300)], ["about 80"]),
        (
            "every speed of a town", (4..<54).map { (Double($0) + 0.5, 10) },
            ["0–10", "10–20", "20–25", "25–35", "35–40", "40–45", "≥ 45"]
        ),
        (
            "a limit that is kept", [(10.5, 40), (20.5, 40), (30.5, 40), (49.7, 90), (50.3, 90)],
            ["0–15", "15–25", "25–45", "≥ 45"]
        ),
        ("waits in between", [(0.2, 900), (20.5, 50), (80.5, 50)], ["0–25", "≥ 25"]),
        ("a boat", (4..<13).map { (Double($0) + 0.5, 100) }, ["0–5", "5–7", "7–8", "8–9", "9–10", "10–12", "≥ 12"]),
        (
            "an aeroplane", (700..<900).map { (Double($0) + 0.5, 1) },
            ["0–720", "720–760", "760–780", "780–820", "820–840", "840–880", "≥ 880"]
        ),
    ]

    @Test(arguments: driven)
    func divideTheSpeedsThatWereDriven(
        what: String, speeds: [(kilometers: Double, count: Int)], labels: [String]
    ) {
        let histogram = Self.histogram(speeds)
        let scale = SpeedScale(dividing: histogram)
        #expect((0..<scale.count).map(scale.label) == labels, "\(what)")
        #expect(scale.index(of: 1000) == scale.count - 1 && scale.index(of: 0) == 0)
        let colors = (0..<scale.count).map(scale.color)
        if labels[0].hasPrefix("about") { #expect(colors == [SpeedScale.palette / 2], "neither slow nor fast") }
        #expect(Set(colors).count == scale.count && colors.allSatisfy { (0..<SpeedScale.palette).contains($0) })
        #expect(scale.percentages(of: histogram).reduce(0, +) == 100)
        for (index, bound) in scale.bounds.enumerated() {
            #expect(
                scale.index(of: (bound - 0.01) / 3.6) == index && scale.index(of: (bound + 0.01) / 3.6) == index + 1)
        }
    }

    @Test func forgiveASpeedAtABound() {
        let scale = SpeedScale(dividing: Self.histogram([(10.5, 40), (20.5, 40), (30.5, 40), (49.7, 90), (50.3, 90)]))
        #expect(scale.isAbout(44 / 3.6, inClass: 3) && scale.isAbout(46 / 3.6, inClass: 2))
        #expect(!scale.isAbout(38 / 3.6, inClass: 3) && !scale.isAbout(50 / 3.6, inClass: 2))
        #expect(scale.isAbout(200 / 3.6, inClass: 3) && scale.isAbout(0, inClass: 0))
        let single = SpeedScale(dividing: Self.histogram([(50, 9)]))
        #expect(single.isAbout(0, inClass: 0) && single.isAbout(99, inClass: 0))
    }

    @Test(
        arguments: [
            ([1, 1, 1], [34, 33, 33]), ([15, 11, 10, 19, 46], [15, 11, 10, 19, 45]), ([0, 7], [0, 100]), ([5], [100]),
            ([0, 0], [0, 0]), ([1, 999], [0, 100]),
        ] as [([Int], [Int])])
    func shareAHundredPercent(counts: [Int], percentages: [Int]) {
        #expect(SpeedHistogram.percentages(counts) == percentages)
    }

    /// A wait is no slow driving.
    @Test func tellStandingApart() {
        let speeds = Self.histogram([(0.2, 300), (20.5, 50), (80.5, 50)])
        #expect(SpeedScale(dividing: speeds).percentages(of: speeds) == [50, 50] && speeds.standingPercentage == 75)
        #expect(Self.histogram([(20.5, 50)]).standingPercentage == 0)
        #expect(Self.histogram([(0.2, 50)]).standingPercentage == 100 && SpeedHistogram().standingPercentage == 0)
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
        #expect(night.index(holding: Self.time(120000)) == 0)
        #expect(night.index(holding: Self.time(200000)) == nil)
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
        (0.5, "0.5 s"), (34, "34 s"), (60, "1 min"), (93, "1 min 33 s"), (8040, "2 h 14 min"), (172_799, "48 h"),
        (273_600, "3 days 4 h"), (-93, "-1 min 33 s"),
    ])
    func sayHowLong(seconds: Double, text: String) { #expect(FigureText.duration(.seconds(seconds)) == text) }

    @Test func saySizesAndDecimals() {
        #expect(FigureText.bytes(91_926) == "91.9 kB" && FigureText.bytes(1) == "1 byte")
        #expect(FigureText.bytes(999_949_999) == "999.9 MB" && FigureText.bytes(57_312_000_000) == "57.3 GB")
        #expect(FigureText.decimal(-0.04, 1) == "0.0" || FigureText.decimal(-0.04, 1) == "-0.0")
    }
}
