import Testing
import VehicleAuthorization

@Suite struct Cache {
    private let van7 = AuthorizationContext(vehicleID: "van-7")

    private func token(_ seconds: Int?, _ value: String = "one") -> AuthorizationToken {
        AuthorizationToken(value: value, lifetime: seconds.map { .seconds($0) })
    }

    /// A cache that fetched `token` at time zero.
    private func cache(holding token: AuthorizationToken) -> TokenCache {
        var cache = TokenCache()
        #expect(cache.request(van7, now: .zero) == .fetch)
        _ = cache.fetched(.success(token), for: van7, begun: .zero, now: .zero, jitter: 1)
        return cache
    }

    /// Life in seconds, the moment of asking, what is answered; jitter 1 puts the refresh at nine tenths of the reuse.
    @Test(
        arguments: [
            (3600, 1, "use"), (3600, 2969, "use"), (3600, 2971, "useAndRefresh"), (3600, 3299, "useAndRefresh"),
            (3600, 3300, "fetch"), (3600, 9999, "fetch"), (360, 53, "use"), (360, 60, "fetch"), (301, 0, "use"),
            (301, 1, "fetch"), (300, 260, "use"), (300, 289, "useAndRefresh"), (300, 290, "fetch"), (60, 48, "use"),
            (60, 53, "useAndRefresh"),
            (60, 54, "fetch"), (nil, 200, "use"), (nil, 299, "useAndRefresh"), (nil, 300, "fetch"),
        ] as [(Int?, Int, String)])
    func reusesWhileEnoughLifeRemains(life: Int?, asked: Int, answer: String) {
        var cache = cache(holding: token(life))
        #expect(kind(cache.request(van7, now: .seconds(asked))) == answer)
    }

    @Test func handsOutTheLifeThatIsLeft() {
        var cache = cache(holding: token(3600))
        #expect(cache.request(van7, now: .seconds(600)) == .use(token(3000)))
    }

    @Test func countsLifeFromTheBeginningOfTheFetch() {
        var cache = TokenCache()
        _ = cache.request(van7, now: .seconds(100))
        _ = cache.fetched(.success(token(400)), for: van7, begun: .seconds(100), now: .seconds(150), jitter: 1)
        #expect(cache.request(van7, now: .seconds(160)) == .use(token(340)))
        #expect(kind(cache.request(van7, now: .seconds(200))) == "fetch")
    }

    @Test func fetchesOnceForManyCallers() {
        var cache = TokenCache()
        #expect(
            (0..<5).map { _ in kind(cache.request(van7, now: .zero)) } == ["fetch", "wait", "wait", "wait", "wait"])
    }

    @Test func refreshesOnceAndGoesOnHandingOut() {
        var cache = cache(holding: token(3600))
        #expect(
            (0..<3).map { _ in kind(cache.request(van7, now: .seconds(3000))) } == ["useAndRefresh", "use", "use"])
    }

    @Test func keepsATokenAVehicle() {
        var cache = cache(holding: token(3600, "seven"))
        let van8 = AuthorizationContext(vehicleID: "van-8")
        #expect(cache.request(van8, now: .zero) == .fetch)
        _ = cache.fetched(.success(token(3600, "eight")), for: van8, begun: .zero, now: .zero, jitter: 1)
        #expect(cache.request(van7, now: .zero) == .use(token(3600, "seven")))
        #expect(cache.request(van8, now: .zero) == .use(token(3600, "eight")))
        #expect(kind(cache.request(AuthorizationContext(vehicleID: "van-7", taskID: "t"), now: .zero)) == "fetch")
    }

    @Test func dropsTheContextThatWasLeftAloneLongest() {
        var policy = CachePolicy()
        policy.maximumContexts = 2
        var cache = TokenCache(policy: policy)
        for (moment, vehicle) in ["a", "b", "a", "c"].enumerated() {
            let context = AuthorizationContext(vehicleID: vehicle)
            if cache.request(context, now: .seconds(moment)) == .fetch {
                _ = cache.fetched(.success(token(3600)), for: context, begun: .zero, now: .zero, jitter: 1)
            }
        }
        #expect(cache.count == 2)
        #expect(kind(cache.request(AuthorizationContext(vehicleID: "a"), now: .seconds(9))) == "use")
        #expect(kind(cache.request(AuthorizationContext(vehicleID: "b"), now: .seconds(9))) == "fetch")
    }

    @Test func asksForAVehicle() {
        var cache = TokenCache()
        guard case .refuse(let error) = cache.request(AuthorizationContext(vehicleID: ""), now: .zero) else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .missingContext)
        #expect(cache.count == 0)
    }

    @Test func dropsOnlyTheTokenThatWasRefused() {
        var cache = cache(holding: token(3600, "new"))
        cache.discard(token(3600, "old"), for: van7)
        #expect(kind(cache.request(van7, now: .zero)) == "use")
        cache.discard(token(3600, "new"), for: van7)
        #expect(kind(cache.request(van7, now: .zero)) == "fetch")
    }

    @Test func warnsWhenTheRefusedTokenComesAgain() {
        var cache = cache(holding: token(3600, "same"))
        cache.discard(token(3600, "same"), for: van7)
        _ = cache.request(van7, now: .zero)
        let warnings = cache.fetched(.success(token(3600, "same")), for: van7, begun: .zero, now: .zero, jitter: 1)
        #expect(warnings == [.refusedTokenAgain(vehicleID: "van-7")])
        #expect(kind(cache.request(van7, now: .zero)) == "use")
    }

    @Test func warnsOnceOfShortTokens() {
        var cache = TokenCache()
        let counts = (0..<3).map { _ in
            _ = cache.request(van7, now: .zero)
            return cache.fetched(.success(token(60)), for: van7, begun: .zero, now: .zero, jitter: 1).count
        }
        #expect(counts == [1, 0, 0])
    }

    /// Number of the failure, `retryAfter`, the wait that follows with jitter 1 and 0.
    @Test(
        arguments: [
            (1, nil, 2, 1), (2, nil, 4, 2), (3, nil, 8, 4), (5, nil, 32, 16), (6, nil, 60, 30), (100, nil, 60, 30),
            (1, 30, 30, 30), (1, 100_000, 600, 600), (6, 10, 60, 30),
        ] as [(Int, Int?, Int, Int)])
    func leavesAFailingIssuerAlone(failures: Int, retryAfter: Int?, longest: Int, shortest: Int) {
        for (jitter, wait) in [(1.0, longest), (0.0, shortest)] {
            var cache = TokenCache()
            let error = AuthorizationError(.unavailable, "down", retryAfter: retryAfter.map { .seconds($0) })
            var now = Duration.zero
            for number in 1...failures {
                #expect(kind(cache.request(van7, now: now)) == "fetch")
                _ = cache.fetched(.failure(error), for: van7, begun: now, now: now, jitter: jitter)
                if number < failures { now += .seconds(600) }
            }
            let justBefore = cache.request(van7, now: now + .seconds(wait) - .milliseconds(1))
            #expect(justBefore == .refuse(AuthorizationError(.unavailable, "down", retryAfter: .milliseconds(1))))
            #expect(kind(cache.request(van7, now: now + .seconds(wait))) == "fetch")
        }
    }

    @Test func asksAtOnceWhenTheNetworkIsBack() {
        var cache = TokenCache()
        _ = cache.request(van7, now: .zero)
        let error = AuthorizationError(.unavailable, "down", retryAfter: .seconds(60))
        _ = cache.fetched(.failure(error), for: van7, begun: .zero, now: .zero, jitter: 1)
        #expect(kind(cache.request(van7, now: .seconds(1))) == "refuse")
        cache.forgetFailures()
        #expect(kind(cache.request(van7, now: .seconds(1))) == "fetch")
    }

    @Test func handsOutAGoodTokenWhileItsRefreshFails() {
        var cache = cache(holding: token(3600))
        #expect(kind(cache.request(van7, now: .seconds(3000))) == "useAndRefresh")
        _ = cache.fetched(
            .failure(AuthorizationError(.unavailable, "down")), for: van7, begun: .seconds(3000), now: .seconds(3001),
            jitter: 1)
        #expect(kind(cache.request(van7, now: .seconds(3002))) == "use")
        #expect(kind(cache.request(van7, now: .seconds(3003))) == "useAndRefresh")
    }

    private func kind(_ answer: TokenCache.Answer) -> String {
        switch answer {
        case .use: "use"
        case .useAndRefresh: "useAndRefresh"
        case .wait: "wait"
        case .fetch: "fetch"
        case .refuse: "refuse"
        }
    }
}
