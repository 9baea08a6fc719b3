import LinuxPlatform
import Reporting
import Testing
import TimeAndRandomness

/// A hundred outages of 1 s to 10 min, in simulated time: the delay until the first new position is accepted after the
/// link has returned.
@Suite(.timeLimit(.minutes(2))) struct LinkFlaps {
    struct Result: Sendable {
        var latencies: [Duration] = []
        var attempts: [SimulatedLink.Attempt] = []
        var ledger = Ledger()
    }

    /// Runs with and without a signal from the kernel that the network has returned.
    @Test(arguments: [(true, 3), (false, 15)], [UInt64](1...2))
    func areFollowedByAQuickRecovery(signal: (isGiven: Bool, seconds: Int), seed: UInt64) async throws {
        let result = try await onThread(named: "simulation") {
            Swift.Result { try Self.run(flaps: 100, isSignalled: signal.isGiven, seed: seed) }
        }.get()
        let sorted = result.latencies.sorted()
        try #require(sorted.count == 100)
        print(
            "link: 100 flaps \(signal.isGiven ? "with" : "without") signal, seed \(seed): "
                + "p50 \(sorted[49]), p95 \(sorted[94]), max \(sorted[99]); \(result.attempts.count) attempts")
        #expect(sorted[94] <= .seconds(signal.seconds))

        // There is no retry storm: the attempt after a failed one begins at least a second later.
        let tooSoon = zip(result.attempts, result.attempts.dropFirst()).filter { first, second in
            !first.hasArrived && second.begunAt - first.begunAt < .seconds(1)
        }
        #expect(tooSoon.isEmpty, "\(tooSoon)")
        #expect(result.attempts.allSatisfy { $0.isAlone }, "one exchange at a time")
        // Nothing is lost, and an older position is never sent as the newest.
        let arrived = result.attempts.filter(\.hasArrived)
        #expect(zip(arrived, arrived.dropFirst()).allSatisfy { $0.last <= $1.last })
        #expect(result.ledger.pending == 0 && result.ledger.balances)
        #expect(Set(arrived.flatMap { [$0.last] + $0.past }).count == Int(result.ledger.accepted))
    }

    private static func run(flaps: Int, isSignalled: Bool, seed: UInt64) throws -> Result {
        let simulation = try LinkSimulation(seed: seed)
        var chance = SplitMix64(seed: seed &* 7919)
        var result = Result()
        simulation.begin()
        for flap in 0..<flaps {
            drive(simulation, for: 20 + 40 * chance.unit())
            simulation.link.set(outage: flap.isMultiple(of: 2) ? .refuses : .swallows)
            // Uniform in the logarithm: as many short outages as long ones.
            drive(simulation, for: power(600, chance.unit()))
            let returnedAt = simulation.now
            simulation.link.set(outage: nil)
            let isWaiting = simulation.ledger().pending > 0
            let earlier = simulation.link.state.withLock { $0.attempts.count }
            if isSignalled {
                simulation.perform { [reporter = simulation.reporter] in await reporter.networkReturned() }
            }
            drive(simulation, for: 40)
            // Requests in progress when the link returned are lost, so only later attempts can have arrived.
            let first = simulation.link.state.withLock { $0.attempts[earlier...].first(where: \.hasArrived) }
            // If nothing was pending, the next position is the first that can be late.
            if let first, let arrivedAt = first.endedAt {
                result.latencies.append(arrivedAt - (isWaiting ? returnedAt : max(returnedAt, .seconds(first.last))))
            }
        }
        drive(simulation, for: 120)
        result.attempts = simulation.link.state.withLock { $0.attempts }
        result.ledger = simulation.ledger()
        simulation.end()
        return result
    }

    /// Accepts a position every five seconds, for `seconds`.
    private static func drive(_ simulation: LinkSimulation, for seconds: Double) {
        let end = simulation.now + .milliseconds(Int(seconds * 1000))
        while true {
            let next = Duration.seconds((simulation.wholeSeconds / 5 + 1) * 5)
            if next > end { break }
            simulation.advance(to: next)
            simulation.appendCurrentPosition()
        }
        simulation.advance(to: end)
    }

    /// Returns `base` to the power of `exponent`, which is in 0..<1, to within a few thousandths.
    private static func power(_ base: Double, _ exponent: Double) -> Double {
        var (result, root, rest) = (1.0, base, exponent)
        for _ in 0..<10 {
            root = root.squareRoot()
            rest *= 2
            if rest >= 1 {
                result *= root
                rest -= 1
            }
        }
        return result
    }
}
