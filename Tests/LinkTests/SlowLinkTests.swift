import HTTPMessages
import LinuxPlatform
import Reporting
import Testing

/// A backlog of 600 positions and a new one every five seconds, over links of all speeds.
@Suite(.timeLimit(.minutes(2))) struct SlowLink {
    struct Result: Sendable {
        var attempts: [SimulatedLink.Attempt]
        var ledger: Ledger
        var drainedAt: Duration?
    }

    /// The arguments are the bytes per second, the round trip in ms, the maximum time of a batch after its size has
    /// been found, and the batch size reached.
    @Test(arguments: [
        (2_000.0, 300, 1.7, 5...8), (10_000, 300, 1.1, 15...50), (1_000_000, 50, 0.2, 50...50),
        (1_000_000, 600, 0.7, 50...50),
    ])
    func findsTheBatchSizeForOneSecond(
        bytesPerSecond: Double, roundTrip: Int, maximumSeconds: Double, batchSizes: ClosedRange<Int>
    ) async throws {
        let result = try await Self.simulate { state in
            state.bytesPerSecond = bytesPerSecond
            state.roundTrip = .milliseconds(roundTrip)
        }
        #expect(result.ledger.pending == 0 && result.ledger.balances)
        let times = result.attempts.map { ($0.endedAt ?? .seconds(999)) - $0.begunAt }
        let settled = times.dropFirst(8).max() ?? .zero
        #expect(settled <= .seconds(maximumSeconds), "\(settled)")
        #expect(batchSizes.contains(result.attempts.map(\.past.count).max() ?? 0))
        print(
            "link: \(Int(bytesPerSecond)) B/s, \(roundTrip) ms: largest batch "
                + "\(result.attempts.map(\.past.count).max() ?? 0), slowest \(settled), "
                + "drained in \(result.drainedAt.map { "\($0)" } ?? "-")")
        Self.expectTimelyPositions(in: result, within: .seconds(maximumSeconds))
    }

    /// A path drops everything larger than one packet. Small requests pass, and so does the live position.
    @Test func delaysANewerPositionByAtMostTheTimeout() async throws {
        let result = try await Self.simulate { $0.maximumPastLocations = 5 }
        #expect(result.ledger.pending == 0 && result.ledger.balances)
        // A position that arrives during a batch waits 3 s, and then for its own exchange on a new connection.
        Self.expectTimelyPositions(in: result, within: .seconds(3 + 4 * 0.2 + 0.1))
        #expect(result.attempts.contains { !$0.hasArrived })
    }

    /// The arguments are the duration of answers, `upload.timeoutSeconds`, and the time when everything must have been
    /// delivered. No position is added after 240 s. A few exchanges are aborted until the timeout is found, and none
    /// afterwards: each update arrives once.
    @Test(arguments: [(12, 60, 265), (12, 15, 265), (30, 60, 300), (50, 60, 350)])
    func waitsForASlowServer(answerSeconds: Int, limit: Int, drained: Int) async throws {
        let result = try await Self.observe {
            try Self.simulateSlowServer(delay: .seconds(answerSeconds), limits: HTTPLimits(total: .seconds(limit)))
        }
        #expect(result.ledger.pending == 0 && result.ledger.balances)
        let unanswered = result.attempts.filter { attempt in
            attempt.endedAt.map { $0 - attempt.begunAt < .seconds(answerSeconds) } ?? true
        }
        #expect(unanswered.count <= 5, "\(unanswered.count)")
        #expect(unanswered.allSatisfy { $0.begunAt < .seconds(3 * limit) })
        let end = try #require(result.drainedAt)
        #expect(end <= .seconds(drained), "\(end)")
        print("link: answers after \(answerSeconds) s: drained after \(end), \(unanswered.count) aborted")
    }

    /// Simulates a slow server, with a new position every five seconds for four minutes.
    private static func simulateSlowServer(delay: Duration, limits: HTTPLimits) throws -> Result {
        let simulation = try LinkSimulation(limits: limits)
        simulation.link.state.withLock { $0.answerDelay = delay }
        simulation.begin()
        defer { simulation.end() }
        var drainedAt: Duration?
        for second in 0..<1200 {
            simulation.advance(to: .seconds(second))
            if second < 240, second.isMultiple(of: 5) { simulation.appendPosition(ofSecond: second) }
            if drainedAt == nil, simulation.ledger().pending == 0, second > 60 { drainedAt = simulation.now }
        }
        return Result(
            attempts: simulation.link.state.withLock { $0.attempts }, ledger: simulation.ledger(),
            drainedAt: drainedAt)
    }

    /// Data on the connection is acknowledged but never delivered. Even with the maximum timeout, a new position
    /// arrives within seconds.
    @Test func abandonsADeadConnectionWithinSeconds() async throws {
        let result = try await Self.observe {
            let simulation = try LinkSimulation(limits: HTTPLimits(total: .seconds(120)))
            simulation.begin()
            defer { simulation.end() }
            for second in stride(from: 0, through: 60, by: 5) {
                simulation.advance(to: .seconds(second))
                if second == 30 { simulation.link.state.withLock { $0.isDead = true } }
                simulation.appendPosition(ofSecond: second)
            }
            simulation.advance(to: .seconds(70))
            return Result(
                attempts: simulation.link.state.withLock { $0.attempts }, ledger: simulation.ledger(), drainedAt: nil)
        }
        #expect(result.ledger == Ledger(accepted: 13, delivered: 13))
        // Position 30 hangs. Position 35 arrives, and is sent three seconds later on a new connection.
        let first = result.attempts.first { $0.last == 35 }
        #expect(first?.begunAt == .seconds(38) && first?.hasArrived == true)
    }

    @Test(arguments: [(50.0, 10.5...13), (500, 0.75...2)])
    func keepsTheRateOfTheBacklog(updatesPerSecond: Double, seconds: ClosedRange<Double>) async throws {
        let result = try await Self.simulate(pace: updatesPerSecond) { $0.roundTrip = .milliseconds(20) }
        let drained = try #require(result.drainedAt)
        #expect(seconds.contains(drained / .seconds(1)), "\(drained)")
        Self.expectTimelyPositions(in: result, within: .milliseconds(100))
    }

    /// Expects that every position was sent as the last location within `limit` of its acceptance.
    private static func expectTimelyPositions(in result: Result, within limit: Duration) {
        let arrived = result.attempts.filter(\.hasArrived)
        for second in stride(from: 605, through: 655, by: 5) {
            let first = arrived.first { $0.last >= second }?.endedAt ?? .seconds(9999)
            // The position waits for a request that may have started just before.
            #expect(first - .seconds(second - 600) <= limit * 2, "position of second \(second) at \(first)")
        }
    }

    private static func simulate(
        pace: Double? = nil, _ change: @escaping @Sendable (inout sending SimulatedLink.State) -> Void
    ) async throws -> Result {
        try await observe { try run(pace: pace, change) }
    }

    /// Runs a simulation on its own thread. Expects that one exchange at a time was in progress.
    private static func observe(_ simulate: @escaping @Sendable () throws -> Result) async throws -> Result {
        let result = try await onThread(named: "simulation") { Swift.Result { try simulate() } }.get()
        #expect(result.attempts.allSatisfy { $0.isAlone })
        return result
    }

    private static func run(
        pace: Double?, _ change: (inout sending SimulatedLink.State) -> Void
    ) throws -> Result {
        let simulation = try LinkSimulation(backlogUpdatesPerSecond: pace)
        simulation.link.state.withLock { change(&$0) }
        for second in 1...600 { simulation.appendPosition(ofSecond: second) }
        simulation.begin()
        var drainedAt: Duration?
        for step in 1...2400 {
            simulation.advance(to: .milliseconds(step * 250))
            if step.isMultiple(of: 20), step <= 240 { simulation.appendPosition(ofSecond: 600 + step / 4) }
            if drainedAt == nil, simulation.ledger().pending == 0 { drainedAt = simulation.now }
        }
        defer { simulation.end() }
        return Result(
            attempts: simulation.link.state.withLock { $0.attempts }, ledger: simulation.ledger(),
            drainedAt: drainedAt)
    }
}
