import LinuxPlatform
import ReportedText
import Testing
import TimeAndRandomness
import VehicleAuthorization
import WaypostTestSupport

/// A simulated week: a thousand callers and twenty vehicles use an issuer that is slow, fails and makes errors. Fleet
/// Engine rejects tokens, callers are cancelled, and the network returns.
@Suite(.timeLimit(.minutes(5))) struct TokenWeek {
    private static let week = Duration.seconds(7 * 86_400)
    private static let vehicles = (0..<20).map { "van-\($0)" }

    @Test func followsEveryRule() async {
        let clock = ManualClock()
        let issuer = WeekIssuer(clock: clock, seed: 20_260_105, vehicles: Self.vehicles)
        let cached = CachedAuthorization(issuer, clock: clock, jitter: { issuer.draw() }) { _ in }
        var (rounds, asked) = (0, 0)
        while issuer.now < Self.week {
            // Sometimes all callers ask at once. Usually a few do, as for updates.
            let callers = rounds.isMultiple(of: 20) ? 1000 : 30
            rounds += 1
            asked += callers
            let total = asked
            await withTaskGroup { group in
                for _ in 0..<callers { group.addTask { await simulateUpdate(with: cached, issuer) } }
                group.addTask { await advance(clock, cached: cached, issuer: issuer, until: total) }
            }
            if issuer.draw() < 0.1 { await cached.networkReturned() }
            clock.advance(by: issuer.drawPause())
        }
        let tally = issuer.tally
        #expect(issuer.answered == asked, "every caller is answered")
        #expect(tally.problems.prefix(5) == [])
        #expect(tally.maximumAtOnce == 1, "one fetch per vehicle at a time")
        #expect(tally.fetches == tally.issued + tally.failures + tally.givenUp)
        #expect(tally.issued <= tally.dueTokens + tally.rejected.count)
        // Every planned event happened.
        #expect(
            tally.dueTokens > 2000 && tally.failures > 200 && tally.rejected.count > 200 && tally.handedOut > 50_000)
    }

    /// Advances time until `total` callers are answered and every fetch has ended. Time advances only while each fetch
    /// in progress sleeps, so that it doesn't overtake running callers, or fetches that the issuer hasn't received.
    private func advance(
        _ clock: ManualClock, cached: CachedAuthorization, issuer: WeekIssuer, until total: Int
    ) async {
        while true {
            let isAnswered = issuer.answered == total
            let underWay = await cached.fetchCount
            if isAnswered, underWay == 0 { return }
            if underWay > 0, clock.sleeperCount == underWay { clock.advance(by: .seconds(1)) }
            await Task.yield()  // lets the callers run, with any number of threads
        }
    }

    /// Simulates one update: requests a token, may give up, checks the token, and may have it rejected.
    private func simulateUpdate(with cached: CachedAuthorization, _ issuer: WeekIssuer) async {
        let context = AuthorizationContext(vehicleID: Self.vehicles[Int(issuer.draw() * 20) % 20])
        let givesUp = issuer.draw() < 0.05
        let askedAt = issuer.now
        let discarded = issuer.discardedCount
        let request = Task { try await cached.token(for: context) }
        if givesUp {
            await Task.yield()
            request.cancel()
        }
        let result = await request.result
        issuer.check(result, for: context, askedAt: askedAt, afterDiscards: discarded, gaveUp: givesUp)
        guard case .success(let token) = result, issuer.draw() < 0.005 else { return }
        issuer.recordRejection(of: token)
        await cached.discard(token, for: context)
        issuer.recordDiscard(of: token)
    }
}

/// The issuer of the simulated week. It records all tokens, and judges every fetch and every answer.
private final class WeekIssuer: VehicleAuthorization {
    struct Issue {
        let vehicleID: String
        let fetchedAt: Duration
        let lifetime: Duration
    }

    struct Tally {
        var (fetches, issued, failures, givenUp, dueTokens, handedOut, maximumAtOnce) = (0, 0, 0, 0, 0, 0, 0)
        var rejected: Set<String> = []
        var problems: [String] = []
    }

    fileprivate struct State {
        var random: SplitMix64
        var tally = Tally()
        var answered = 0
        var running: [String: Int] = [:]
        var issues: [String: Issue] = [:]
        var newest: [String: String] = [:]
        /// The tokens whose discard has returned, with their position in the order of the returns.
        var discarded: [String: Int] = [:]
    }

    private enum Outcome { case token(lifetime: Int), tokenOfAnother, failure }

    private let clock: ManualClock
    private let start: ManualClock.Instant
    private let vehicles: [String]
    private let state: Locked<State>

    init(clock: ManualClock, seed: UInt64, vehicles: [String]) {
        self.clock = clock
        start = clock.now
        self.vehicles = vehicles
        state = Locked(State(random: SplitMix64(seed: seed)))
    }

    var now: Duration { start.duration(to: clock.now) }
    var tally: Tally { state.withLock { $0.tally } }
    var answered: Int { state.withLock { $0.answered } }
    var discardedCount: Int { state.withLock { $0.discarded.count } }

    /// Draws from 0 up to, but not including, 1.
    func draw() -> Double { state.withLock { $0.random.unit() } }

    /// Draws the time between updates: seconds, minutes or hours.
    func drawPause() -> Duration {
        let kind = draw()
        return .seconds(kind < 0.5 ? 1 + draw() * 30 : kind < 0.96 ? 60 + draw() * 540 : 3600 + draw() * 7200)
    }

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        let fetchedAt = now
        let (number, outcome, delay, isDue) = state.withLock { state in
            beginFetch(for: context.vehicleID, in: &state, at: fetchedAt)
        }
        defer { state.withLock { $0.running[context.vehicleID, default: 0] -= 1 } }
        if delay > .zero {
            do { try await clock.sleep(for: delay) } catch {
                state.withLock { $0.tally.givenUp += 1 }
                throw AuthorizationError(.cancelled, "no caller waits")
            }
        }
        switch outcome {
        case .token(let lifetime):
            let value = TestTokens.driver(vehicleID: context.vehicleID, lifetime: lifetime, serial: number)
            let issue = Issue(vehicleID: context.vehicleID, fetchedAt: fetchedAt, lifetime: .seconds(lifetime))
            state.withLock { state in
                state.tally.issued += 1
                if isDue { state.tally.dueTokens += 1 }
                (state.issues[value], state.newest[context.vehicleID]) = (issue, value)
            }
            return AuthorizationToken(value: value, lifetime: issue.lifetime)
        case .tokenOfAnother:
            state.withLock { $0.tally.failures += 1 }
            return AuthorizationToken(value: TestTokens.driver(vehicleID: "another"), lifetime: .seconds(3600))
        case .failure:
            state.withLock { $0.tally.failures += 1 }
            throw AuthorizationError(.unavailable, "down")
        }
    }

    /// Draws the outcome of a fetch. Records a problem if the fetch has no reason: the vehicle's token was neither
    /// rejected nor at two fifths of its life.
    private func beginFetch(
        for vehicleID: String, in state: inout State, at now: Duration
    ) -> (number: Int, outcome: Outcome, delay: Duration, isDue: Bool) {
        state.tally.fetches += 1
        state.running[vehicleID, default: 0] += 1
        state.tally.maximumAtOnce = max(state.tally.maximumAtOnce, state.running[vehicleID, default: 0])
        var isDue = true
        if let newest = state.newest[vehicleID], let issue = state.issues[newest] {
            // A fetch that took 20 s leaves less than the lifetime.
            isDue = now - issue.fetchedAt >= (issue.lifetime - .seconds(20)) * 0.4
            if !isDue, !state.tally.rejected.contains(newest) {
                state.tally.problems.append("\(vehicleID) fetched after \(now - issue.fetchedAt)")
            }
        }
        let delay = Duration.seconds(state.random.unit() < 0.3 ? state.random.unit() * 20 : 0)
        let kind = state.random.unit()
        let outcome: Outcome =
            kind < 0.1
            ? .failure : kind < 0.12 ? .tokenOfAnother : .token(lifetime: 900 + Int(state.random.unit() * 2700))
        return (state.tally.fetches, outcome, delay, isDue)
    }

    func recordRejection(of token: AuthorizationToken) { state.withLock { _ = $0.tally.rejected.insert(token.value) } }

    func recordDiscard(of token: AuthorizationToken) {
        state.withLock { $0.discarded[token.value] = $0.discarded.count }
    }

    /// Judges the answer to a caller that asked at `askedAt`, when `afterDiscards` discards had returned.
    func check(
        _ result: Result<AuthorizationToken, any Error>, for context: AuthorizationContext, askedAt: Duration,
        afterDiscards: Int, gaveUp: Bool
    ) {
        state.withLock { state in
            state.answered += 1
            let problem: String?
            switch result {
            case .success(let token):
                state.tally.handedOut += 1
                let life = token.lifetime ?? .zero
                if let issue = state.issues[token.value], issue.vehicleID == context.vehicleID {
                    problem =
                        life < .seconds(1)
                        ? "only \(life) left"
                        : life > issue.fetchedAt + issue.lifetime - askedAt
                            ? "\(life) is longer than it lives"
                            : state.discarded[token.value].map { $0 < afterDiscards } == true ? "discarded before" : nil
                } else {
                    problem = "a token that is not its own"
                }
            case .failure(let error as AuthorizationError):
                let another = TokenFault.wrongClaims(.otherSubject(["another"]), context)
                problem =
                    switch error.code {
                    case .unavailable: nil
                    case .unusableAnswer: error.fault == another ? nil : "\(error)"
                    case .cancelled: gaveUp ? nil : "cancelled, but not by its caller"
                    case .missingContext, .refused, .misconfigured: "\(error)"
                    }
            case .failure(let error): problem = "\(error)"
            }
            if let problem { state.tally.problems.append("\(context): \(problem)") }
        }
    }
}
