/// What the cache knows about one context.
struct TokenSlot: Sendable {
    private struct Held: Sendable {
        let token: AuthorizationToken
        let usableUntil: Duration
        let refreshFrom: Duration
        /// When its life ends, counted from the fetch.
        let end: Duration

        /// The token with the life that is left now.
        func handedOut(at now: Duration) -> AuthorizationToken {
            AuthorizationToken(value: token.value, lifetime: token.lifetime == nil ? nil : end - now)
        }
    }

    struct Failure: Sendable {
        let error: AuthorizationError
        let count: Int
        let until: Duration
    }

    var isFetching = false
    var failure: Failure?
    private(set) var lastUse: UInt64 = 0
    private var held: Held?
    /// The token that Fleet Engine refused last.
    private var refused: String?

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

    mutating func accept(
        _ token: AuthorizationToken, for context: AuthorizationContext, begun: Duration, policy: CachePolicy,
        jitter: Double
    ) -> [AuthorizationWarning] {
        isFetching = false
        failure = nil
        var warnings: [AuthorizationWarning] = []
        if token.value == refused { warnings.append(.refusedTokenAgain(vehicleID: context.vehicleID)) }
        let lifetime = token.lifetime ?? policy.assumedLifetime
        let reuse: Duration
        if token.lifetime == nil {
            warnings.append(.unknownLifetime(vehicleID: context.vehicleID, assumed: policy.assumedLifetime))
            reuse = policy.assumedLifetime
        } else if lifetime > policy.minimumLife {
            reuse = lifetime - policy.minimumLife
        } else {
            // Better a token near its end than a fetch at every update: one fetch a token.
            warnings.append(
                .shortLivedTokens(
                    vehicleID: context.vehicleID, lifetime: .seconds(lifetime.components.seconds),
                    minimumLife: policy.minimumLife))
            reuse = lifetime - min(lifetime / 10, .seconds(10))
        }
        held = Held(
            token: token, usableUntil: begun + reuse, refreshFrom: begun + reuse * (0.7 + 0.2 * jitter),
            end: begun + lifetime)
        return warnings
    }

    mutating func fail(_ error: AuthorizationError, now: Duration, policy: CachePolicy, jitter: Double) {
        isFetching = false
        let count = (failure?.count ?? 0) + 1
        // The shift is bounded so that years of failures cannot overflow.
        let ceiling = min(policy.initialFailureDelay * (1 << min(count - 1, 20)), policy.maximumFailureDelay)
        let asked = min(error.retryAfter ?? .zero, policy.maximumRetryAfter)
        failure = Failure(error: error, count: count, until: now + max(ceiling * (0.5 + 0.5 * jitter), asked))
    }

    mutating func discard(_ token: AuthorizationToken) {
        refused = token.value
        if held?.token.value == token.value { held = nil }
    }
}
