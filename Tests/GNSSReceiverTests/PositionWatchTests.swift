import Testing

@testable import GNSSReceiver

@Suite struct PositionWatches {
    /// Arrivals of sentences with or without a position, and the condition of the line at the time `now`, in seconds.
    @Test(
        arguments: [
            ([], 1000, PositionWatch.Condition.good), ([(5, false)], 64.9, .good), ([(5, false)], 65, .noneYet),
            ([(5, false), (64, false)], 65, .noneYet), ([(5, false), (64, true)], 65, .good),
            ([(5, true), (60, false)], 64.9, .good), ([(5, true), (60, false)], 65, .lost),
            ([(5, true), (66, true), (67, false)], 126, .lost), ([(5, false), (70, true)], 129, .good),
        ] as [([(at: Double, withPosition: Bool)], Double, PositionWatch.Condition)])
    func reportAMissingPositionAfterAMinute(
        arrivals: [(at: Double, withPosition: Bool)], now: Double, condition: PositionWatch.Condition
    ) {
        var watch = PositionWatch(timeout: .seconds(60))
        watch.startOver()
        for arrival in arrivals { watch.recordSentences(withPosition: arrival.withPosition, at: .seconds(arrival.at)) }
        #expect(watch.condition(at: .seconds(now)) == condition)
    }

    /// A receiver sends each of its types of sentences within seconds, but a first position needs more time.
    @Test(arguments: [(24.9, false), (25, true)])
    func assumeThatEveryTypeHasArrivedAfterTwentySeconds(now: Double, expected: Bool) {
        var watch = PositionWatch(timeout: .seconds(60))
        watch.startOver()
        #expect(!watch.hasReceivedEveryType(at: .seconds(1000)))
        watch.recordSentences(withPosition: false, at: .seconds(5))
        #expect(watch.hasReceivedEveryType(at: .seconds(now)) == expected)
    }

    @Test func allowAMinuteAgainOnAReopenedLine() {
        var watch = PositionWatch(timeout: .seconds(60))
        watch.recordSentences(withPosition: true, at: .seconds(1))
        watch.startOver()
        #expect(watch.condition(at: .seconds(500)) == .good && watch.nextChange(after: .seconds(500)) == nil)
        watch.recordSentences(withPosition: false, at: .seconds(500))
        #expect(watch.condition(at: .seconds(559)) == .good && watch.condition(at: .seconds(560)) == .lost)
    }

    @Test func knowTheTimeOfTheNextChange() {
        var watch = PositionWatch(timeout: .seconds(60))
        watch.recordSentences(withPosition: false, at: .seconds(1))
        #expect(watch.nextChange(after: .seconds(1)) == .seconds(61))
        #expect(watch.nextChange(after: .seconds(61)) == nil)
    }
}
