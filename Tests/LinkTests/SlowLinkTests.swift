import LinuxPlatform
import LocationReporting
import Testing

/// A backlog of 600 positions and a new one every five seconds, over links of every speed.
@Suite(.timeLimit(.minutes(2))) struct SlowLink {
    struct Result: Sendable {
        var attempts: [SimulatedLink.Attempt]
        var ledger: Ledger
        var isDrainedAt: Duration?
    }

    /// Bytes a second, round trip in ms, how long a batch may take once its size has been found, how full it gets.
    @Test(arguments: [
        (2_000.0, 300, 1.7, 5...8), (10_000, 300, 1.1, 15...50), (1_000_000, 50, 0.2, 50...50),
        (1_000_000, 600, 0.7, 50...50),
    ])
    func findsTheBatchThatTakesASecond(
        bytesPerSecond: Double, roundTrip: Int, longest: Double, largest: ClosedRange<Int>
    ) async throws {
        let result = try await Self.simulate { state in
            (state.bytesPerSecond, state.roundTrip) = (bytesPerSecond, .milliseconds(roundTrip))
        }
        #expect(result.ledger.pending == 0 && result.ledger.balances)
        let times = result.attempts.map { ($0.endedAt ?? .seconds(999)) - $0.begunAt }
        let settled = times.dropFirst(8).max() ?? .zero
        #expect(settled <= .seconds(longest), "\(settled)")
        #expect(largest.contains(result.attempts.map(\.past.count).max() ?? 0))
        print(
            "link: \(Int(bytesPerSecond)) B/s, \(roundTrip) ms: largest batch "
                + "\(result.attempts.map(\.past.count).max() ?? 0), slowest \(settled), "
                + "drained in \(result.isDrainedAt.map { "\($0)" } ?? "-")")
        Self.expectFresh(result, within: .seconds(longest))
    }

    /// A path that swallows what does not fit into one packet: small requests pass, so the live position does.
    @Test func holdsNoNewerPositionUpForLongerThanItsPatience() async throws {
        let result = try await Self.simulate { $0.largestBatch = 5 }
        #expect(result.ledger.pending == 0 && result.ledger.balances)
        // A position that came as a batch was under way waits 3 s, and its own exchange on a new connection.
        Self.expectFresh(result, within: .seconds(3 + 4 * 0.2 + 0.1))
        #expect(result.attempts.contains { !$0.hasArrived })
    }

    @Test(arguments: [(50.0, 10.5...13), (500, 0.75...2)])
    func keepsToItsPace(updatesPerSecond: Double, seconds: ClosedRange<Double>) async throws {
        let result = try await Self.simulate(pace: updatesPerSecond) { $0.roundTrip = .milliseconds(20) }
        let drained = try #require(result.isDrainedAt)
        #expect(seconds.contains(drained / .seconds(1)), "\(drained)")
        Self.expectFresh(result, within: .milliseconds(100))
    }

    /// Every position was on its way to be the last location of an arrival within `limit` of its acceptance.
    private static func expectFresh(_ result: Result, within limit: Duration) {
        let arrived = result.attempts.filter(\.hasArrived)
        for second in stride(from: 605, through: 655, by: 5) {
            let first = arrived.first { $0.last >= second }?.endedAt ?? .seconds(9999)
            // One may have begun just before, which it waits for.
            #expect(first - .seconds(second - 600) <= limit * 2, "position of second \(second) at \(first)")
        }
    }

    private static func simulate(
        pace: Double? = nil, _ change: @escaping @Sendable (inout sending SimulatedLink.State) -> Void
    ) async throws -> Result {
        try await onThread(named: "simulation") { Swift.Result { try Self.run(pace, change) } }.get()
    }

    private static func run(
        _ pace: Double?, _ change: (inout sending SimulatedLink.State) -> Void
    ) throws -> Result {
        let simulation = try LinkSimulation(backlogUpdatesPerSecond: pace)
        simulation.link.state.withLock { change(&$0) }
        for second in 1...600 { simulation.append(second: second) }
        simulation.begin()
        var drainedAt: Duration?
        for step in 1...2400 {
            simulation.advance(to: .milliseconds(step * 250))
            if step.isMultiple(of: 20), step <= 240 { simulation.append(second: 600 + step / 4) }
            if drainedAt == nil, simulation.ledger().pending == 0 { drainedAt = simulation.now }
        }
        defer { simulation.end() }
        return Result(
            attempts: simulation.link.state.withLock { $0.attempts }, ledger: simulation.ledger(),
            isDrainedAt: drainedAt)
    }
}
