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
        #expect(spacing.timeToSend(Self.update(3000), at: .seconds(2)) == .seconds(3))
    }

    /// At the shortest interval the requests may follow each other from start to start, but for the first answer, of
    /// which is not known how much of it was the way there.
    @Test func losesNoTimeByItself() {
        let sent = Self.sent(readyAt: (0..<50).map { .seconds($0 * 5) })
        #expect(sent == [.zero] + (1..<50).map { .milliseconds($0 * 5000 + 200) })
    }

    /// A connection that has to be opened first takes a request later to the server than the next one.
    @Test func countsFromTheArrival() {
        let sent = Self.sent(
            readyAt: [.zero, .seconds(10), .seconds(15)],
            answersTake: [.milliseconds(200), .milliseconds(1200), .milliseconds(200)])
        #expect(sent == [.zero, .seconds(10), .seconds(16)])
    }

    /// One late answer does not make all positions late that come as fast as they may.
    @Test func makesUpForADelay() {
        let ready = (0..<40).map { Duration.seconds($0 * 5 + ($0 == 3 ? 4 : 0)) }
        let sent = Self.sent(readyAt: ready)
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $1 - $0 >= .seconds(5) })
        #expect(sent.count == ready.count - 1)
        #expect((sent.last ?? .zero) - .seconds(39 * 5) < .seconds(1))
    }

    @Test func letsARepetitionGo() {
        var spacing = PositionSpacing()
        spacing.accepted(Self.update(1), at: .zero)
        spacing.arrived(Self.update(1), isCertain: true, took: .zero, at: .zero)
        #expect(spacing.timeToSend(Self.update(1), at: .seconds(1)) == .zero)
        #expect(spacing.timeToSend(Self.update(2), at: .seconds(1)) == .seconds(4))
        // It puts nothing off: the server had it before.
        spacing.arrived(Self.update(1), isCertain: true, took: .zero, at: .seconds(2))
        #expect(spacing.timeToSend(Self.update(2), at: .seconds(2)) == .seconds(3))
    }
}
