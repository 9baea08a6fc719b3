import Testing
import VehicleAuthorization

@Suite struct TokenCaches {
    private let van7 = AuthorizationContext(vehicleID: "van-7")

    private func token(lifetime seconds: Int?, value: String = "one") -> AuthorizationToken {
        AuthorizationToken(value: value, lifetime: seconds.map { .seconds($0) })
    }

    /// Stores `token` in `cache`, after a fetch that took no time.
    @discardableResult
    private func store(
        _ token: AuthorizationToken, in cache: inout TokenCache, at moment: Int
    ) -> (answer: TokenCache.Outcome, warnings: [AuthorizationWarning]) {
        let (answer, warnings) = cache.recordOutcome(
            .success(token), for: van7, begun: .seconds(moment), now: .seconds(moment), jitter: 1)
        return (answer, warnings ?? [])
    }

    /// The first token without a flaw is reported, so that a condition about earlier tokens ends.
    @Test func theFirstTokenWithoutAFlawIsReported() {
        var cache = TokenCache()
        let reports = [60, 3600, 3000, 60].map { (seconds: Int) -> Int? in
            cache.recordOutcome(
                .success(token(lifetime: seconds, value: "\(seconds)")), for: van7, begun: .zero, now: .zero, jitter: 1
            ).warnings?.count
        }
        #expect(reports == [1, 0, nil, 1])
    }

    /// Returns a cache that fetched `token` at time zero.
    private func cache(holding token: AuthorizationToken) -> TokenCache {
        var cache = TokenCache()
        #expect(cache.requestToken(for: van7, now: .zero) == .fetch)
        _ = cache.recordOutcome(.success(token), for: van7, begun: .zero, now: .zero, jitter: 1)
        return cache
    }

    /// The lifetime in seconds, the time of the request, and the answer. With jitter 1 the renewal is as late as
    /// possible.
    @Test(
        arguments: [
            (3600, 1, "use"), (3600, 1799, "use"), (3600, 1800, "useAndRefresh"), (3600, 3589, "useAndRefresh"),
            (3600, 3590, "fetch"), (3600, 9999, "fetch"), (900, 449, "use"), (900, 450, "useAndRefresh"),
            (900, 889, "useAndRefresh"), (900, 890, "fetch"), (480, 179, "use"), (480, 180, "useAndRefresh"),
            (360, 59, "use"), (360, 60, "useAndRefresh"), (360, 349, "useAndRefresh"), (360, 350, "fetch"),
            (301, 30, "use"), (301, 31, "useAndRefresh"), (300, 149, "use"), (300, 150, "useAndRefresh"),
            (300, 290, "fetch"), (60, 29, "use"), (60, 30, "useAndRefresh"), (60, 54, "fetch"), (5, 2, "use"),
            (5, 3, "useAndRefresh"), (5, 4, "fetch"), (nil, 299, "use"), (nil, 300, "useAndRefresh"),
            (nil, 3599, "useAndRefresh"), (nil, 3600, "fetch"),
        ] as [(Int?, Int, String)])
    func reuseATokenUntilItExpires(lifetime: Int?, requestedAt: Int, answer: String) {
        var cache = cache(holding: token(lifetime: lifetime))
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(requestedAt))) == answer)
    }

    @Test(arguments: [3600, nil] as [Int?]) func returnNoTokenTwiceUnderTheAskingPolicy(lifetime: Int?) {
        var cache = TokenCache(policy: .askingAtEveryUpdate)
        for moment in [0, 0, 1, 2000] {
            #expect(cache.requestToken(for: van7, now: .seconds(moment)) == .fetch)
            let (answer, warnings) = store(token(lifetime: lifetime), in: &cache, at: moment)
            // The lifetime of a token that is issued again continues.
            #expect((try? answer.get().lifetime) == lifetime.map { .seconds($0 - moment) })
            #expect(warnings.isEmpty)
        }
    }

    @Test func forgetTokensAndFailures() {
        var cache = cache(holding: token(lifetime: 3600))
        cache.forgetTokens()
        #expect(cache.requestToken(for: van7, now: .seconds(1)) == .fetch)
        _ = cache.recordOutcome(
            .failure(AuthorizationError(.unavailable, "no")), for: van7, begun: .seconds(1), now: .seconds(1), jitter: 1
        )
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(1))) == "fail")
        cache.forgetTokens()
        #expect(cache.requestToken(for: van7, now: .seconds(1)) == .fetch)
    }

    @Test func returnTheRemainingLifetime() {
        var cache = cache(holding: token(lifetime: 3600))
        #expect(cache.requestToken(for: van7, now: .seconds(600)) == .use(token(lifetime: 3000)))
    }

    @Test func countLifetimeFromTheStartOfTheFetch() {
        var cache = TokenCache()
        _ = cache.requestToken(for: van7, now: .seconds(100))
        _ = cache.recordOutcome(
            .success(token(lifetime: 400)), for: van7, begun: .seconds(100), now: .seconds(150), jitter: 1)
        #expect(cache.requestToken(for: van7, now: .seconds(160)) == .use(token(lifetime: 340)))
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(200))) == "useAndRefresh")
    }

    @Test func fetchOnceForManyCallers() {
        var cache = TokenCache()
        #expect(
            (0..<5).map { _ in kind(of: cache.requestToken(for: van7, now: .zero)) } == [
                "fetch", "wait", "wait", "wait", "wait",
            ])
    }

    @Test func refreshOnceWhileReturningTheCurrentToken() {
        var cache = cache(holding: token(lifetime: 3600))
        #expect(
            (0..<3).map { _ in kind(of: cache.requestToken(for: van7, now: .seconds(3000))) } == [
                "useAndRefresh", "use", "use",
            ])
    }

    @Test func keepOneTokenPerVehicle() {
        var cache = cache(holding: token(lifetime: 3600, value: "seven"))
        let van8 = AuthorizationContext(vehicleID: "van-8")
        #expect(cache.requestToken(for: van8, now: .zero) == .fetch)
        _ = cache.recordOutcome(
            .success(token(lifetime: 3600, value: "eight")), for: van8, begun: .zero, now: .zero, jitter: 1)
        #expect(cache.requestToken(for: van7, now: .zero) == .use(token(lifetime: 3600, value: "seven")))
        #expect(cache.requestToken(for: van8, now: .zero) == .use(token(lifetime: 3600, value: "eight")))
        #expect(
            kind(of: cache.requestToken(for: AuthorizationContext(vehicleID: "van-7", taskID: "t"), now: .zero))
                == "fetch")
    }

    @Test func dropTheLeastRecentlyUsedContext() {
        var policy = CachePolicy()
        policy.maximumContexts = 2
        var cache = TokenCache(policy: policy)
        for (moment, vehicle) in ["a", "b", "a", "c"].enumerated() {
            let context = AuthorizationContext(vehicleID: vehicle)
            if cache.requestToken(for: context, now: .seconds(moment)) == .fetch {
                _ = cache.recordOutcome(
                    .success(token(lifetime: 3600)), for: context, begun: .zero, now: .zero, jitter: 1)
            }
        }
        #expect(cache.count == 2)
        #expect(kind(of: cache.requestToken(for: AuthorizationContext(vehicleID: "a"), now: .seconds(9))) == "use")
        #expect(kind(of: cache.requestToken(for: AuthorizationContext(vehicleID: "b"), now: .seconds(9))) == "fetch")
    }

    @Test func dropOnlyTheRejectedToken() {
        var cache = cache(holding: token(lifetime: 3600, value: "new"))
        cache.discard(token(lifetime: 3600, value: "old"), for: van7)
        #expect(kind(of: cache.requestToken(for: van7, now: .zero)) == "use")
        cache.discard(token(lifetime: 3600, value: "new"), for: van7)
        #expect(kind(of: cache.requestToken(for: van7, now: .zero)) == "fetch")
    }

    /// The seconds after the first fetch, and whether a warning is expected. An issuer that signs twice within a second
    /// returns the same token, which isn't a fault.
    @Test(arguments: [(0, false), (1, false), (2, true), (600, true)])
    func warnIfTheRejectedTokenIsIssuedAgain(second: Int, expectsWarning: Bool) {
        var cache = cache(holding: token(lifetime: 3600, value: "same"))
        cache.discard(token(lifetime: 3600, value: "same"), for: van7)
        _ = cache.requestToken(for: van7, now: .seconds(second))
        let warnings = store(token(lifetime: 3600, value: "same"), in: &cache, at: second).warnings
        #expect(warnings == (expectsWarning ? [.rejectedTokenReissued(van7)] : []))
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(second))) == "use")
    }

    @Test func warnOnceAboutShortLivedTokens() {
        var cache = TokenCache()
        let counts = (0..<3).map { number in
            _ = cache.requestToken(for: van7, now: .zero)
            // A different lifetime each time doesn't make the warning new.
            return store(token(lifetime: 60 + number, value: "\(number)"), in: &cache, at: 0).warnings.count
        }
        #expect(counts == [1, 0, 0])
        _ = cache.requestToken(for: van7, now: .seconds(599))
        #expect(store(token(lifetime: 61), in: &cache, at: 599).warnings == [])
        _ = cache.requestToken(for: van7, now: .seconds(600))
        #expect(store(token(lifetime: 62), in: &cache, at: 600).warnings.count == 1, "and again every ten minutes")
    }

    /// Topics that are no longer reported make room for new ones.
    @Test func warnAboutNewTopicsAfterManyOthers() {
        var cache = TokenCache()
        func warningCount(missing claim: String, at second: Int) -> Int {
            _ = cache.requestToken(for: van7, now: .seconds(second))
            let warning = TokenWarning.claims(.missing(claim: claim), van7)
            let token = AuthorizationToken(value: claim, lifetime: .seconds(3600), reuse: .zero, warnings: [warning])
            return store(token, in: &cache, at: second).warnings.count
        }
        let letters = (0..<2000).map { number in
            String(String.UnicodeScalarView((0..<11).map { number >> $0 & 1 == 0 ? "a" : "b" }))
        }
        #expect(letters.reduce(0) { $0 + warningCount(missing: $1, at: 0) } == 1024)
        #expect(warningCount(missing: "x", at: 599) == 0 && warningCount(missing: "x", at: 600) == 1)
    }

    private static func expiryWarning(_ seconds: Int) -> TokenWarning {
        .expiry(.dateAfterExpiry(seconds: seconds), TokenOrigin(.file, "X"))
    }

    /// A changed figure doesn't make a warning new. A warning shortens the reuse of the token, and replaces the warning
    /// about an unknown lifetime.
    @Test func reportAWarningOnceRegardlessOfItsFigures() {
        var cache = TokenCache()
        let warningsPerCall = (0..<3).map { number in
            _ = cache.requestToken(for: van7, now: .zero)
            let questionable = AuthorizationToken(
                value: "\(number)", lifetime: nil, reuse: .seconds(100), warnings: [Self.expiryWarning(number)])
            return store(questionable, in: &cache, at: 0).warnings
        }
        #expect(warningsPerCall == [[.questionableToken(Self.expiryWarning(0))], [], []])
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(99))) == "use")
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(100))) == "useAndRefresh")
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(101))) == "use", "while the fetch hangs")
    }

    /// The state of the renewal, by the current token and the last fetch.
    @Test func knowTheLifetimeOfTheCurrentToken() {
        var cache = TokenCache()
        #expect(cache.renewal(of: van7, now: .zero) == .lapsed)
        let error = AuthorizationError(.unavailable, "down")
        _ = cache.requestToken(for: van7, now: .zero)
        _ = cache.recordOutcome(.failure(error), for: van7, begun: .zero, now: .zero, jitter: 1)
        #expect(cache.renewal(of: van7, now: .zero) == .lapsed, "there is nothing to renew")
        _ = cache.requestToken(for: van7, now: .seconds(2))
        store(token(lifetime: 3600), in: &cache, at: 2)
        #expect(cache.renewal(of: van7, now: .seconds(2)) == .working(remaining: .seconds(3590)))
        _ = cache.requestToken(for: van7, now: .seconds(2000))
        _ = cache.recordOutcome(.failure(error), for: van7, begun: .seconds(2000), now: .seconds(2002), jitter: 1)
        #expect(cache.renewal(of: van7, now: .seconds(2002)) == .failing(error, remaining: .seconds(1590)))
        #expect(cache.renewal(of: van7, now: .seconds(3592)) == .lapsed)
        cache.discard(token(lifetime: 3600), for: van7)
        #expect(cache.renewal(of: van7, now: .seconds(2002)) == .lapsed)
    }

    /// The last wait ends when the token expires, unless the issuer requests a longer one.
    @Test(arguments: [(nil, 3590), (5, 3590), (120, 3700)] as [(Int?, Int)])
    func fetchAgainWhenTheTokenExpires(retryAfter: Int?, next: Int) {
        var cache = cache(holding: token(lifetime: 3600))
        let error = AuthorizationError(.unavailable, "down", retryAfter: retryAfter.map { .seconds($0) })
        for second in [1800, 2000, 2200, 2400, 3580] {
            #expect(kind(of: cache.requestToken(for: van7, now: .seconds(second))) == "useAndRefresh")
            _ = cache.recordOutcome(
                .failure(error), for: van7, begun: .seconds(second), now: .seconds(second), jitter: 1)
        }
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(3589))) == "use")
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(next - 1))) != "fetch")
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(next))) == "fetch")
    }

    /// The number of the failure, its `retryAfter`, and the wait after it with jitter 1 and 0.
    @Test(
        arguments: [
            (1, nil, 2, 1), (2, nil, 4, 2), (3, nil, 8, 4), (5, nil, 32, 16), (6, nil, 60, 30), (100, nil, 60, 30),
            (1, 30, 30, 30), (1, 100_000, 600, 600), (6, 10, 60, 30),
        ] as [(Int, Int?, Int, Int)])
    func backOffFromAFailingIssuer(failures: Int, retryAfter: Int?, maximum: Int, minimum: Int) {
        for (jitter, wait) in [(1.0, maximum), (0.0, minimum)] {
            var cache = TokenCache()
            let error = AuthorizationError(.unavailable, "down", retryAfter: retryAfter.map { .seconds($0) })
            var now = Duration.zero
            for number in 1...failures {
                #expect(kind(of: cache.requestToken(for: van7, now: now)) == "fetch")
                _ = cache.recordOutcome(.failure(error), for: van7, begun: now, now: now, jitter: jitter)
                if number < failures { now += .seconds(600) }
            }
            let justBefore = cache.requestToken(for: van7, now: now + .seconds(wait) - .milliseconds(1))
            #expect(justBefore == .fail(AuthorizationError(.unavailable, "down", retryAfter: .milliseconds(1))))
            #expect(kind(of: cache.requestToken(for: van7, now: now + .seconds(wait))) == "fetch")
        }
    }

    @Test func fetchAtOnceWhenTheNetworkReturns() {
        var cache = TokenCache()
        _ = cache.requestToken(for: van7, now: .zero)
        let error = AuthorizationError(.unavailable, "down", retryAfter: .seconds(60))
        _ = cache.recordOutcome(.failure(error), for: van7, begun: .zero, now: .zero, jitter: 1)
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(1))) == "fail")
        cache.forgetFailures()
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(1))) == "fetch")
    }

    @Test func returnAGoodTokenWhileItsRefreshFails() {
        var cache = cache(holding: token(lifetime: 3600))
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(3000))) == "useAndRefresh")
        _ = cache.recordOutcome(
            .failure(AuthorizationError(.unavailable, "down")), for: van7, begun: .seconds(3000), now: .seconds(3001),
            jitter: 1)
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(3002))) == "use")
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(3003))) == "useAndRefresh")
    }

    @Test func countARepeatedTokensAgeFromItsFirstFetch() {
        var cache = cache(holding: token(lifetime: 3600))
        _ = cache.requestToken(for: van7, now: .seconds(3000))
        #expect(store(token(lifetime: 3600), in: &cache, at: 3000).answer == .success(token(lifetime: 600)))
        #expect(cache.requestToken(for: van7, now: .seconds(3100)) == .use(token(lifetime: 500)))
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(3300))) == "useAndRefresh")
        let (answer, warnings) = store(token(lifetime: 3600), in: &cache, at: 3400)
        #expect(answer == .success(token(lifetime: 200)))
        #expect(warnings == [.oldTokenReissued(van7, minimumLife: .seconds(300))])
        _ = cache.requestToken(for: van7, now: .seconds(3601))
        guard case .failure(let error) = store(token(lifetime: 3600), in: &cache, at: 3601).answer else {
            Issue.record("an expired token was accepted")
            return
        }
        #expect(error.fault == .expired(nil, .expiredDuringFetch(van7)))
    }

    @Test(arguments: [(2, true), (1, false), (0, false)])
    func rejectATokenInItsLastSecond(lifetime: Int, isAccepted: Bool) {
        var cache = TokenCache()
        _ = cache.requestToken(for: van7, now: .zero)
        switch store(token(lifetime: lifetime), in: &cache, at: 0).answer {
        case .success: #expect(isAccepted)
        case .failure(let error): #expect(!isAccepted && error.code == .unusableAnswer, "\(error)")
        }
    }

    /// The lifetime when the fetch began, the duration of the fetch, the lifetime for its waiters, and the time of the
    /// next fetch.
    @Test(
        arguments: [
            (3600, 10, 3590, 3590), (320, 10, 310, 310), (310, 20, 290, 300), (20, 10, 10, 19), (20, 20, nil, 21),
            (20, 60, nil, 61), (0, 0, nil, 1), (-60, 0, nil, 1),
        ] as [(Int, Int, Int?, Int)])
    func judgeTheLifetimeAtTheEndOfTheFetch(lifetime: Int, took: Int, left: Int?, next: Int) {
        var cache = TokenCache()
        _ = cache.requestToken(for: van7, now: .zero)
        let (answer, _) = cache.recordOutcome(
            .success(token(lifetime: lifetime)), for: van7, begun: .zero, now: .seconds(took), jitter: 0)
        #expect((try? answer.get().lifetime) == left.map { .seconds($0) })
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(next) - .milliseconds(1))) != "fetch")
        var later = cache
        #expect(["fetch", "wait"].contains(kind(of: later.requestToken(for: van7, now: .seconds(next)))))
    }

    /// If a whole fleet starts at once, its renewals are still far apart, and half of the lifetime is left in case the
    /// issuer fails.
    @Test(arguments: [(3600, 1440, 1800), (900, 360, 450), (360, 48, 60)])
    func renewAtAJitteredTimeBeforeHalfTheLifetime(lifetime: Int, earliest: Int, latest: Int) {
        for (jitter, moment) in [(0.0, earliest), (1, latest)] {
            var cache = TokenCache()
            _ = cache.requestToken(for: van7, now: .zero)
            _ = cache.recordOutcome(
                .success(token(lifetime: lifetime)), for: van7, begun: .zero, now: .zero, jitter: jitter)
            #expect(kind(of: cache.requestToken(for: van7, now: .seconds(moment - 1))) == "use")
            #expect(kind(of: cache.requestToken(for: van7, now: .seconds(moment))) == "useAndRefresh")
            #expect(lifetime - moment >= max(300, lifetime / 2))
        }
    }

    @Test func fetchOnceAfterManyRejections() {
        var cache = cache(holding: token(lifetime: 3600, value: "old"))
        for _ in 0..<100 { cache.discard(token(lifetime: 3600, value: "old"), for: van7) }
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(1))) == "fetch")
        for _ in 0..<100 { cache.discard(token(lifetime: 3600, value: "old"), for: van7) }
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(1))) == "wait")
        store(token(lifetime: 3600, value: "new"), in: &cache, at: 1)
        for _ in 0..<100 { cache.discard(token(lifetime: 3600, value: "old"), for: van7) }
        #expect(kind(of: cache.requestToken(for: van7, now: .seconds(1))) == "use")
    }

    @Test func doNotFetchAtEachRejectionOfARepeatedToken() {
        var cache = cache(holding: token(lifetime: 3600, value: "same"))
        var fetches = 0
        for second in 0..<600 {
            cache.discard(token(lifetime: 3600, value: "same"), for: van7)
            guard cache.requestToken(for: van7, now: .seconds(second)) == .fetch else { continue }
            fetches += 1
            store(token(lifetime: 3600, value: "same"), in: &cache, at: second)
        }
        #expect(fetches == 30)
    }

    @Test func warnAboutTokensThatFleetEngineWillReject() {
        var cache = TokenCache()
        _ = cache.requestToken(for: van7, now: .zero)
        let warnings = store(token(lifetime: 86_400), in: &cache, at: 0).warnings
        #expect(warnings == [.longLivedTokens(van7, lifetime: .seconds(86_400), maximumLife: .seconds(3600))])
    }

    @Test(arguments: [AuthorizationContext(vehicleID: ""), .init(tripID: ""), .init(trackingID: "")])
    func requireAVehicleOrTrip(context: AuthorizationContext) {
        var cache = TokenCache()
        guard case .fail(let error) = cache.requestToken(for: context, now: .zero) else {
            Issue.record("not rejected")
            return
        }
        #expect(error.code == .missingContext)
        #expect(cache.count == 0)
    }

    @Test func distinguishTripsFromVehicles() {
        var cache = TokenCache()
        let contexts: [AuthorizationContext] = [
            .init(vehicleID: "one"), .init(vehicleID: "one", taskID: "t"), .init(tripID: "one"),
            .init(trackingID: "one"),
        ]
        #expect(
            contexts.map { kind(of: cache.requestToken(for: $0, now: .zero)) } == Array(repeating: "fetch", count: 4))
    }

    private func kind(of answer: TokenCache.Action) -> String {
        switch answer {
        case .use: "use"
        case .useAndRefresh: "useAndRefresh"
        case .wait: "wait"
        case .fetch: "fetch"
        case .fail: "fail"
        }
    }
}
