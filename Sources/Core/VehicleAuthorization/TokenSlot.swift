/// What the cache knows about one context.
struct TokenSlot: Sendable {
    private struct Held: Sendable {
        let token: AuthorizationToken
        let fetchedAt: Duration
        var usableUntil: Duration
        let refreshFrom: Duration
        /// When its life ends; `nil` when nobody said.
        let end: Duration?
        /// Whether Fleet Engine had refused it when the issuer gave it again.
        let wasRefused: Bool

        /// The token with the life that is left now.
        func handedOut(at now: Duration) -> AuthorizationToken { token.with(lifetime: end.map { $0 - now }) }
    }

    struct Failure: Sendable {
        let error: AuthorizationError
        let count: Int
        let until: Duration
    }

    /// Tokens and their answers tell whole seconds: a life may end so much sooner than it seems to.
    private static let resolution = Duration.seconds(1)

    var isFetching = false
    var failure: Failure?
    private(set) var lastUse: UInt64 = 0
    private var held: Held?
    /// The fingerprint of the token that Fleet Engine refused last, and when that was first fetched, if it is known.
    private var refused: (fingerprint: Int, fetchedAt: Duration?)?

    mutating func request(now: Duration, use: UInt64) -> TokenCache.Answer {
        lastUse = use
        let mayFetch = !isFetching && now >= (failure?.until ?? now)
        if let held, now < held.usableUntil {
            let token = held.handedOut(at: now)
            guard now >= held.refreshFrom, mayFetch else { return .use(token) }
            isFetching = true
            return .useAndRefresh(token)
        }
        if isFetching { return .wait }
        if let failure, now < failure.until {
            return .refuse(
                AuthorizationError(failure.error.code, failure.error.detail, retryAfter: failure.until - now))
        }
        isFetching = true
        return .fetch
    }

    /// Takes what a fetch brought that began at `begun`, and answers the token with the life that is left `now`.
    ///
    /// - Throws: `.unusableAnswer` when that life is over.
    mutating func accept(
        _ token: AuthorizationToken, for context: AuthorizationContext, begun: Duration, now: Duration,
        policy: CachePolicy, jitter: Double
    ) throws(AuthorizationError) -> (token: AuthorizationToken, warnings: [AuthorizationWarning]) {
        let isRepeated = held?.token.isSame(as: token) ?? false
        // Life counts from the beginning of the fetch, so that a slow answer only ever shortens it. A token that came
        // before is not younger for being given again.
        let end = [token.lifetime.map { begun + $0 }, isRepeated ? held?.end : nil].compactMap { $0 }.min()
        if let end, end - Self.resolution <= now {
            throw AuthorizationError(
                // No figure in it: words that change would be told anew at each probe.
                .unusableAnswer,
                "the token for \(context) had expired when it came; let the issuer make a new one, and check its clock")
        }
        let wasRefused = token.fingerprint == refused?.fingerprint
        let usableUntil = Self.usableUntil(end, now: now, policy)
        held = Held(
            token: token, fetchedAt: now, usableUntil: usableUntil,
            refreshFrom: usableUntil - policy.refreshLead(reuse: usableUntil - now, jitter: jitter), end: end,
            wasRefused: wasRefused)
        (isFetching, failure) = (false, nil)
        var warnings = Self.warnings(lifetime: end.map { $0 - begun }, isRepeated: isRepeated, context, policy)
        // Within a second the same claims are signed again, and give the same token: no fault of the issuer's.
        if wasRefused, refused?.fetchedAt.map({ now - $0 >= .seconds(2) }) ?? true {
            warnings.append(.refusedTokenAgain(context))
        }
        return (token.with(lifetime: end.map { $0 - now }), warnings)
    }

    mutating func fail(_ error: AuthorizationError, now: Duration, policy: CachePolicy, jitter: Double) {
        isFetching = false
        let count = (failure?.count ?? 0) + 1
        // The shift is bounded so that years of failures cannot overflow.
        let ceiling = min(policy.initialFailureDelay * (1 << min(count - 1, 20)), policy.maximumFailureDelay)
        let asked = min(error.retryAfter ?? .zero, policy.maximumRetryAfter)
        failure = Failure(error: error, count: count, until: now + max(ceiling * (0.5 + 0.5 * jitter), asked))
    }

    mutating func discard(_ token: AuthorizationToken, policy: CachePolicy) {
        let isHeld = held?.token.isSame(as: token) ?? false
        if refused?.fingerprint != token.fingerprint { refused = (token.fingerprint, isHeld ? held?.fetchedAt : nil) }
        guard isHeld, let held else { return }
        // An issuer that gives the refused token again is not asked at each refusal.
        self.held?.usableUntil = min(held.usableUntil, held.fetchedAt + policy.repeatedTokenDelay)
        if !held.wasRefused { self.held = nil }
    }

    private static func usableUntil(_ end: Duration?, now: Duration, _ policy: CachePolicy) -> Duration {
        guard let end else { return now + policy.assumedLifetime }
        let left = end - now
        // Where the life is too short for the rule, better a token near its end than a fetch at every update.
        return end - (left > policy.minimumLife ? policy.minimumLife : max(resolution, min(left / 10, .seconds(10))))
    }

    private static func warnings(
        lifetime: Duration?, isRepeated: Bool, _ context: AuthorizationContext, _ policy: CachePolicy
    ) -> [AuthorizationWarning] {
        guard let lifetime else { return [.unknownLifetime(context, assumed: policy.assumedLifetime)] }
        let told = Duration.seconds(lifetime.components.seconds)
        if lifetime <= policy.minimumLife {
            return [
                isRepeated
                    ? .brokenContract(
                        "the issuer gives the token for \(context) again with less than "
                            + "\(policy.minimumLife.secondsText) of life left; let it make a new one by then")
                    : .shortLivedTokens(context, lifetime: told, minimumLife: policy.minimumLife)
            ]
        }
        // A minute is let pass, for the clock that set exp and the one that tells the age may differ by seconds.
        guard lifetime > policy.longestLife + .seconds(60) else { return [] }
        return [.longLivedTokens(context, lifetime: told, longestLife: policy.longestLife)]
    }
}
