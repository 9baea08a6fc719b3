import Testing
import TimeAndRandomness

@testable import FleetEngineSimulator

@Suite struct ArrivalCharts {
    /// Returns the time `seconds` after a round quarter of an hour.
    private static func time(_ seconds: Double) -> UTCTime {
        UTCTime(millisecondsSince1970: 1_767_600_000_000 + Int64(seconds * 1000))
    }

    @Test(arguments: [
        (0.0, 2, 2), (1.9, 2, 2), (2, 2, 4), (119, 2, 120), (121, 5, 125), (299, 5, 300), (301, 15, 315),
        (86_400, 15, 86_415),
    ])
    func showUpToAQuarterOfAnHour(running: Double, bar: Int64, end: Int64) {
        let window = ArrivalWindow(startedAt: Self.time(0), now: Self.time(running))
        #expect(window.barSeconds == bar && window.end - 1_767_600_000 == end)
        #expect(window.index(of: window.end) == nil && window.index(of: window.end - 1) == 59)
        #expect(window.index(of: window.start) == 0 && window.index(of: window.start - 1) == nil)
    }

    /// The vehicle is live until second 20, silent until 40, then delivers a backlog at once, and is live again. Each
    /// update is in the bar of its arrival.
    @Test func showAnOutageAndTheCatchUp() {
        var chart = ArrivalChart()
        for second in 0..<20 { chart.add(ArrivalChart.Bar(live: 1), at: Self.time(Double(second))) }
        chart.add(ArrivalChart.Bar(live: 1, late: 20), at: Self.time(40.4))
        for second in 41..<50 { chart.add(ArrivalChart.Bar(live: 1), at: Self.time(Double(second))) }
        let window = ArrivalWindow(startedAt: Self.time(0), now: Self.time(49.5))
        let bars = chart.bars(in: window).suffix(25)
        #expect(Array(bars.prefix(10)) == [ArrivalChart.Bar](repeating: ArrivalChart.Bar(live: 2), count: 10))
        #expect(bars.dropFirst(10).prefix(10).allSatisfy { $0 == ArrivalChart.Bar() })
        #expect(bars.dropFirst(20).first == ArrivalChart.Bar(live: 2, late: 20))
        #expect(bars.suffix(4).allSatisfy { $0 == ArrivalChart.Bar(live: 2) })
        #expect(chart.updatesInLastMinute(now: Self.time(49.5)) == 30)
        #expect(chart.updatesInLastMinute(now: Self.time(70)) == 19)
    }

    @Test func keepOnlyAQuarterOfAnHour() {
        var chart = ArrivalChart()
        for second in 0..<5000 { chart.add(ArrivalChart.Bar(live: 1), at: Self.time(Double(second))) }
        let window = ArrivalWindow(startedAt: Self.time(0), now: Self.time(4999))
        #expect(chart.bars(in: window).reduce(0) { $0 + $1.live } == 890)
        #expect(chart.secondCount == 900)
        // After the clock is set back, updates are added to the last bar.
        chart.add(ArrivalChart.Bar(late: 7), at: Self.time(10))
        #expect(chart.bars(in: window).last?.late == 7)
        #expect(chart.secondCount == 900)
    }
}
