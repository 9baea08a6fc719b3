import Testing

@testable import LocationReporting

@Suite struct PositionSpacings {
    private static func update(_ number: Int) -> LocationUpdate { StoredUpdate.sample(Int64(number)).update }

    /// When positions are ready and when each goes out, the answers taking `took`; one that is overtaken while it waits
    /// goes out as an older one.
    private static func sent(
        readyAt ready: [Duration], answersTake took: [Duration] = [], playedAt speed: Int = 1
    ) -> [Duration] {
        var spacing = PositionSpacing()
        var sent: [Duration] = []
        for (number, moment) in ready.enumerated() {
            spacing.accepted(Self.update(Int(moment / .seconds(1)) * speed), at: moment)
            let rest = spacing.timeToSend(update(number), at: moment)
            if number + 1 < ready.count, ready[number + 1] < moment + rest { continue }
            let start = moment + rest
            spacing.willSend(update(number), at: start)
            let answer = sent.count < took.count ? took[sent.count] : .milliseconds(200)
            spacing.arrived(update(number), isCertain: true, took: answer, at: start + answer)
            sent.append(start)
        }
        return sent
    }

    @Test func delaysNothingThatIsFarEnough() {
        let ready = (0..<20).map { Duration.seconds($0 * 10) }
        #expect(Self.sent(readyAt: ready) == ready)
    }

    @Test(arguments: [2, 17, 100]) func doesNotHoldUpADriveThatIsPlayedFaster(speed: Int) {
        let ready = (0..<20).map { Duration.seconds($0) }
        #expect(Self.sent(readyAt: ready, playedAt: speed) == ready)
    }

    /// The last update of an earlier run is old; the first one of this run is not ahead of the clock for that.
    @Test func keepsTheDistanceFromAnEarlierRunsUpdate() {
        var spacing = PositionSpacing()
        spacing.arrived(Self.update(1), isCertain: true, took: .zero, at: .zero)
        spacing.accepted(Self.update(3000), at: .seconds(2))
        #expect(spacing.timeToSend(Self.update(3000), at: .seconds(2)) == .milliseconds(3020))
    }

    /// After a pause a recording's times are behind the clock for a while.
    @Test func takesARecordingThatPausesForNoReceiver() {
        var spacing = PositionSpacing()
        for second in 0..<8 { spacing.accepted(Self.update(second * 5), at: .seconds(second)) }
        spacing.arrived(Self.update(35), isCertain: true, took: .zero, at: .seconds(7))
        for second in 50..<54 {
            spacing.accepted(Self.update(second - 10), at: .seconds(second))
            #expect(spacing.timeToSend(Self.update(second - 10), at: .seconds(8)) == .zero)
        }
        for second in 54..<60 { spacing.accepted(Self.update(second - 10), at: .seconds(second)) }
        #expect(spacing.timeToSend(Self.update(49), at: .seconds(8)) == .milliseconds(4020))
    }

    /// At the shortest interval the requests follow each other from start to start, but for a margin, and for the first
    /// answer, of which is not known how much of it was the way there.
    @Test func losesHardlyAnyTimeByItself() {
        let ready = (0..<30).map { Duration.seconds($0 * 5) }
        #expect(Self.sent(readyAt: ready) == [.zero] + (1..<30).map { .milliseconds($0 * 5020 + 200) })
    }

    /// A connection that has to be opened first takes a request later to the server than the next one.
    @Test func countsFromTheArrival() {
        let sent = Self.sent(
            readyAt: [.zero, .seconds(10), .seconds(15)],
            answersTake: [.milliseconds(200), .milliseconds(1200), .milliseconds(200)])
        #expect(sent == [.zero, .seconds(10), .milliseconds(16_020)])
    }

    /// One late answer does not make all positions late that come as fast as they may.
    @Test func makesUpForADelay() {
        let ready = (0..<40).map { Duration.seconds($0 * 5 + ($0 == 3 ? 4 : 0)) }
        let sent = Self.sent(readyAt: ready)
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $1 - $0 >= .seconds(5) })
        #expect((37...39).contains(sent.count))
        #expect((sent.last ?? .zero) - .seconds(39 * 5) < .milliseconds(1100))
    }

    @Test func letsARepetitionGo() {
        var spacing = PositionSpacing()
        spacing.accepted(Self.update(1), at: .zero)
        spacing.arrived(Self.update(1), isCertain: true, took: .zero, at: .zero)
        #expect(spacing.timeToSend(Self.update(1), at: .seconds(1)) == .zero)
        #expect(spacing.timeToSend(Self.update(2), at: .seconds(1)) == .milliseconds(4020))
        // It puts nothing off: the server had it before.
        spacing.arrived(Self.update(1), isCertain: true, took: .zero, at: .seconds(2))
        #expect(spacing.timeToSend(Self.update(2), at: .seconds(2)) == .milliseconds(3020))
    }
}
