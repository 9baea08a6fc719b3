import Testing

@testable import HTTPService

@Suite struct ServicePaces {
    private var pace = ServicePace(startedAt: .zero)

    /// How much it works in the second from `start`, when each turn is this long and there is always another one.
    private mutating func work(inTurnsOf turn: Duration, from start: Duration, for time: Duration) -> Duration {
        var (now, worked) = (start, Duration.zero)
        while now < start + time {
            let rest = pace.rest(at: now)
            guard rest == .zero else {
                now += rest
                continue
            }
            now += turn
            worked += turn
            pace.took(turn, until: now)
        }
        return worked
    }

    /// Turns of a flood, from one small request to all connections with as much as one read takes.
    @Test(arguments: [0.05, 0.2, 1, 5, 20])
    mutating func keepsToATenthOfACore(turn: Double) {
        let turn = Duration.milliseconds(turn)
        #expect(work(inTurnsOf: turn, from: .zero, for: .seconds(1)) <= .milliseconds(140) + turn, "with its credit")
        let steady = work(inTurnsOf: turn, from: .seconds(1), for: .seconds(20)) / 20
        #expect((.milliseconds(70)...(.milliseconds(100))).contains(steady))
    }

    /// A page that is loaded, a monitor, somebody who asks ten times a second.
    @Test mutating func letsNobodyWaitWhoAsksNowAndThen() {
        for request in 0..<100 {
            let now = Duration.seconds(1) + .milliseconds(request / 2)
            #expect(pace.rest(at: now) == .zero, "of fifty milliseconds of requests at once, request \(request)")
            pace.took(.microseconds(300), until: now)
        }
        for tenth in 20..<2000 {
            let now = Duration.milliseconds(tenth * 100)
            #expect(pace.rest(at: now) == .zero)
            pace.took(.milliseconds(5), until: now)
        }
    }

    /// However much one turn cost, or the process beside it.
    @Test(arguments: [25, 100, 10_000, 1_000_000])
    mutating func letsNobodyWaitForLong(milliseconds: Int) {
        for _ in 0..<10 { pace.took(.milliseconds(milliseconds), until: .seconds(1)) }
        let rest = pace.rest(at: .seconds(1))
        #expect(rest > .zero && rest <= .milliseconds(300))
        #expect(pace.rest(at: .seconds(1) + rest) == .zero)
    }

    @Test mutating func savesNothingUp() {
        #expect(pace.rest(at: .seconds(3600)) == .zero)
        let worked = work(inTurnsOf: .milliseconds(1), from: .seconds(3600), for: .seconds(1))
        #expect(worked < .milliseconds(140))
    }
}
