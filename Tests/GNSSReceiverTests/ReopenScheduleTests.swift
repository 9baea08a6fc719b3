import Testing

@testable import GNSSReceiver

@Suite struct ReopenSchedules {
    @Test func startQuicklyAndNeverExceedFiveSeconds() {
        var schedule = ReopenSchedule()
        let delays = (0..<10).map { _ in schedule.nextDelay() }
        #expect(
            delays == [250, 250, 250, 250, 500, 1000, 2000, 5000, 5000, 5000].map { Duration.milliseconds($0) })
    }

    @Test func startOverAfterSuccess() {
        var schedule = ReopenSchedule()
        for _ in 0..<10 { _ = schedule.nextDelay() }
        schedule.reset()
        #expect(schedule.nextDelay() == .milliseconds(250))
    }
}
