/// The state and the rules of a token cache, without clocks, tasks or issuers. The cache decides what a caller must do,
/// and records the outcomes of fetches.
///
/// All times are counted from the same moment on a monotonic clock.
package struct TokenCache: Sendable {
    /// The outcome of a fetch.
    package typealias Outcome = Result<AuthorizationToken, AuthorizationError>

    /// The action that a caller must take.
    package enum Action: Sendable, Hashable {
        case use(AuthorizationToken)
        /// Hand this token out, and fetch the next one in the background.
        case useAndRefresh(AuthorizationToken)
        /// Wait for the fetch in progress.
        case wait
        /// Start a fetch, and wait for it.
        case fetch
        /// Fail with this error, because the issuer failed a moment ago.
        case fail(AuthorizationError)
    }

    private let policy: CachePolicy
    private var slots: [AuthorizationContext: TokenSlot] = [:]
    /// The number of requests, used to find the least recently used slot.
    private var uses: UInt64 = 0
    /// The time at which each warning was last reported, keyed by the warning's `topic`.
    private var lastReported: [AuthorizationWarning: Duration] = [:]
    /// The minimum time before a warning is reported again.
    package static let reminderInterval = Duration.seconds(600)

    package init(policy: CachePolicy = CachePolicy()) { self.policy = policy }

    /// The number of contexts in the cache.
    package var count: Int { slots.count }

    /// Returns the action that a caller must take. After `.fetch` and `.useAndRefresh`, a fetch is in progress until
    /// `recordOutcome` or `recordAbandonedFetch` is called.
    package mutating func requestToken(for context: AuthorizationContext, now: Duration) -> Action {
        if let problem = context.problem { return .fail(problem) }
        uses += 1
        makeRoom(for: context)
        return slots[context, default: TokenSlot()].requestToken(now: now, use: uses)
    }

    /// Records the outcome of a fetch that began at `begun`. Returns the answer for its waiters, and all warnings about
    /// the token if one of them is due. With a single vehicle, the list is empty for the first token without a flaw
    /// after one with flaws.
    ///
    /// `jitter` is a random number from 0...1.
    package mutating func recordOutcome(
        _ outcome: Outcome, for context: AuthorizationContext, begun: Duration, now: Duration, jitter: Double
    ) -> (answer: Outcome, warnings: [AuthorizationWarning]?) {
        var slot = slots[context] ?? TokenSlot()
        defer { slots[context] = slot }
        do throws(AuthorizationError) {
            let (token, warnings) = try slot.accept(
                try outcome.get(), for: context, begun: begun, now: now, policy: policy, jitter: jitter)
            if warnings.isEmpty, slots.count <= 1, !lastReported.isEmpty {
                lastReported = [:]
                return (.success(token), [])
            }
            return (.success(token), areDue(warnings, now: now) ? warnings : nil)
        } catch {
            slot.recordFailure(error, now: now, policy: policy, jitter: jitter)
            return (.failure(error), nil)
        }
    }

    /// Records that the outcome of a fetch isn't used, for example because no caller is waiting for it. Such a fetch
    /// counts neither as a success nor as a failure.
    package mutating func recordAbandonedFetch(for context: AuthorizationContext) { slots[context]?.isFetching = false }

    /// Drops `token`, which Fleet Engine has rejected, unless a newer token has replaced it.
    package mutating func discard(_ token: AuthorizationToken, for context: AuthorizationContext) {
        slots[context]?.discard(token, policy: policy)
    }

    /// Drops all tokens and failures.
    package mutating func forgetTokens() {
        for context in slots.keys { slots[context]?.forget() }
    }

    /// Ends the waits after failures, because the network has returned.
    package mutating func forgetFailures() {
        for context in slots.keys { slots[context]?.failure = nil }
    }

    /// Returns the state of the current token's renewal.
    package func renewal(of context: AuthorizationContext, now: Duration) -> TokenRenewal {
        slots[context]?.renewal(now: now) ?? .lapsed
    }

    /// Returns whether one of `warnings` hasn't been reported for a while. If so, records that all are reported now.
    private mutating func areDue(_ warnings: [AuthorizationWarning], now: Duration) -> Bool {
        let due = warnings.map(\.topic).filter { isDue($0, now: now) }
        guard !due.isEmpty else { return false }
        for warning in warnings { lastReported[warning.topic] = now }
        return true
    }

    private mutating func isDue(_ topic: AuthorizationWarning, now: Duration) -> Bool {
        if lastReported.count >= 1024 { lastReported = lastReported.filter { now - $0.value < Self.reminderInterval } }
        return lastReported.count < 1024 && lastReported[topic].map { now - $0 >= Self.reminderInterval } ?? true
    }

    private mutating func makeRoom(for context: AuthorizationContext) {
        guard slots[context] == nil, slots.count >= policy.maximumContexts else { return }
        // This linear search is needed only when a new context meets a full cache.
        let idle = slots.filter { !$0.value.isFetching }
        if let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) { slots[oldest.key] = nil }
    }
}

/// The rules for how long tokens are reused and how often a failing issuer is asked.
public struct CachePolicy: Sendable, Hashable {
    /// The lifetime that an issuer's tokens should exceed. A token is renewed before less than this is left; the Driver
    /// SDK requires five minutes. A token that can't be renewed is used until it expires.
    public var minimumLife: Duration = .seconds(300)
    /// Whether a token may be handed out more than once. If not, the provider is asked for a token at every update.
    public var reusesTokens = true
    /// The time after which a token of unknown lifetime is renewed.
    public var assumedLifetime: Duration = .seconds(300)
    /// The maximum lifetime that Fleet Engine accepts. A warning is reported if an issuer's tokens live longer. A token
    /// of unknown lifetime that can't be renewed is used for this long, unless Fleet Engine rejects it.
    public var maximumLife: Duration = .seconds(3600)
    /// The maximum number of contexts in the cache. The least recently used one is evicted first.
    public var maximumContexts: Int = 4096
    /// The maximum wait after the first failed fetch. The maximum doubles with each further failure. The actual wait is
    /// random, between half of the maximum and the maximum, so that the vehicles of a fleet don't ask at the same time.
    public var initialFailureDelay: Duration = .seconds(2)
    /// The maximum wait after a failure. It is also the minimum time between two fetches if the issuer returns a
    /// rejected token again.
    public var maximumFailureDelay: Duration = .seconds(60)
    /// The time for which a rejected token is used again if the issuer keeps returning it. It is shorter than the wait
    /// between two attempts of a delivery on hold, so that each attempt uses a new token if there is one.
    public var repeatedTokenDelay: Duration = .seconds(20)
    /// The maximum wait that an issuer can demand with `retryAfter`.
    public var maximumRetryAfter: Duration = .seconds(600)

    /// Creates the default policy.
    public init() {}

    /// The policy for a provider that caches its own tokens and knows when to drop them, for example when a driver
    /// signs out. The provider is asked for a token at every update. All other rules apply.
    public static var askingAtEveryUpdate: Self {
        var policy = Self()
        policy.reusesTokens = false
        return policy
    }

    /// Returns the age at which a token with the lifetime `left` is renewed. The age is half of the lifetime, so that
    /// the issuer may fail during the other half without delaying an update. The age is less if a renewal at half of
    /// the lifetime would leave fewer than five minutes.
    func renewalAge(left: Duration) -> Duration {
        guard left > minimumLife else { return left / 2 }
        // The age is at least a tenth of the lifetime, so that a lifetime just over five minutes doesn't cost a fetch
        // for every update.
        return max(left / 10, min(left / 2, left - minimumLife))
    }

    /// Returns how long before its expiry a token is no longer used, because clocks differ and an upload takes time.
    func expiryMargin(left: Duration) -> Duration { max(.seconds(1), min(left / 10, .seconds(10))) }
}

/// An event of a token cache.
public enum TokenEvent: Sendable, Hashable {
    /// The provider has been asked for a token.
    case providerAsked(AuthorizationContext)
    /// The provider has returned a token or an error.
    case providerAnswered(AuthorizationContext)
    /// The state of the renewal, reported after every fetch and when a token is dropped.
    case renewal(TokenRenewal, AuthorizationContext)
    /// All warnings about one token. They are reported when one of them hasn't been reported for ten minutes. With a
    /// single vehicle, the list is empty for the first token without a flaw after one with flaws.
    case warnings([AuthorizationWarning])
}

/// The state of a token's renewal.
public enum TokenRenewal: Sendable, Hashable {
    /// The last fetch succeeded. The current token is usable for `remaining`.
    case working(remaining: Duration)
    /// Fetches fail, but the current token is still usable for `remaining`.
    case failing(AuthorizationError, remaining: Duration)
    /// There is no current token.
    case lapsed
}

/// The cache's state for one context.
struct TokenSlot: Sendable {
    private struct HeldToken: Sendable {
        let token: AuthorizationToken
        let fetchedAt: Duration
        var usableUntil: Duration
        let renewFrom: Duration
        /// The time when the token expires; `nil` if unknown.
        let end: Duration?
        /// Whether Fleet Engine had rejected the token before the issuer returned it again.
        let wasRejected: Bool

        /// Returns the token with the lifetime left now.
        func handedOut(at now: Duration) -> AuthorizationToken { token.withLifetime(end.map { $0 - now }) }
    }

    struct Failure: Sendable {
        let error: AuthorizationError
        let count: Int
        let until: Duration
    }

    /// The precision of lifetimes. Tokens and answers contain whole seconds, so a token may expire up to a second
    /// sooner than calculated.
    private static let resolution = Duration.seconds(1)

    var isFetching = false
    var failure: Failure?
    private(set) var lastUse: UInt64 = 0
    private var held: HeldToken?
    /// The fingerprint of the token that Fleet Engine rejected last, and the time when it was first fetched, if known;
    /// `nil` if none was rejected.
    private var rejected: (fingerprint: Int, fetchedAt: Duration?)?

    mutating func requestToken(now: Duration, use: UInt64) -> TokenCache.Action {
        lastUse = use
        let mayFetch = !isFetching && now >= (failure?.until ?? now)
        if let held, now < held.usableUntil {
            let token = held.handedOut(at: now)
            guard now >= held.renewFrom, mayFetch else { return .use(token) }
            isFetching = true
            return .useAndRefresh(token)
        }
        if isFetching { return .wait }
        if let failure, now < failure.until {
            return .fail(AuthorizationError(failure.error.fault, retryAfter: failure.until - now))
        }
        isFetching = true
        return .fetch
    }

    /// Accepts the token from a fetch that began at `begun`. Returns it with the lifetime left at `now`.
    ///
    /// - Throws: `.unusableAnswer` if the token has expired.
    mutating func accept(
        _ token: AuthorizationToken, for context: AuthorizationContext, begun: Duration, now: Duration,
        policy: CachePolicy, jitter: Double
    ) throws(AuthorizationError) -> (token: AuthorizationToken, warnings: [AuthorizationWarning]) {
        let isRepeated = held?.token.isSame(as: token) ?? false
        // The lifetime counts from the start of the fetch, so a slow answer only shortens it. A token that is returned
        // again keeps its earlier expiry.
        let end = [token.lifetime.map { begun + $0 }, isRepeated ? held?.end : nil].compactMap { $0 }.min()
        if let end, end - Self.resolution <= now {
            throw AuthorizationError(.expired(nil, .expiredDuringFetch(context)))
        }
        let wasRejected = token.fingerprint == rejected?.fingerprint
        let usableUntil =
            policy.reusesTokens
            ? end.map { $0 - policy.expiryMargin(left: $0 - now) } ?? begun + policy.maximumLife : now
        let reuse =
            [token.reuse, end.map { policy.renewalAge(left: $0 - now) } ?? policy.assumedLifetime]
            .compactMap { $0 }.min() ?? .zero
        held = HeldToken(
            token: token.withLifetime(token.lifetime), fetchedAt: now, usableUntil: usableUntil,
            // The time is drawn at random, so that the vehicles of a fleet don't ask at the same time.
            renewFrom: now + reuse * (0.8 + 0.2 * jitter), end: end, wasRejected: wasRejected)
        isFetching = false
        failure = nil
        var warnings = token.warnings.map(AuthorizationWarning.questionableToken)
        warnings += Self.warnings(
            lifetime: end.map { $0 - begun }, isRepeated: isRepeated, hasWarnings: !warnings.isEmpty, for: context,
            policy: policy)
        // An issuer that signs the same claims twice within a second returns the same token, which isn't a fault.
        if wasRejected, rejected?.fetchedAt.map({ now - $0 >= .seconds(2) }) ?? true {
            warnings.append(.rejectedTokenReissued(context))
        }
        return (token.withLifetime(end.map { $0 - now }), warnings)
    }

    mutating func recordFailure(_ error: AuthorizationError, now: Duration, policy: CachePolicy, jitter: Double) {
        isFetching = false
        let count = (failure?.count ?? 0) + 1
        // The shift is bounded so that years of failures can't overflow.
        let ceiling = min(policy.initialFailureDelay * (1 << min(count - 1, 20)), policy.maximumFailureDelay)
        let asked = min(error.retryAfter ?? .zero, policy.maximumRetryAfter)
        // The fetch is retried before the current token becomes unusable, because without a token updates would have to
        // wait.
        let left = held.map { $0.usableUntil - now }.flatMap { $0 > .zero ? $0 : nil } ?? ceiling
        failure = Failure(
            error: error, count: count, until: now + max(min(ceiling * (0.5 + 0.5 * jitter), left), asked))
    }

    func renewal(now: Duration) -> TokenRenewal {
        guard let held, now < held.usableUntil else { return .lapsed }
        let remaining = held.usableUntil - now
        return failure.map { .failing($0.error, remaining: remaining) } ?? .working(remaining: remaining)
    }

    mutating func forget() {
        held = nil
        failure = nil
    }

    mutating func discard(_ token: AuthorizationToken, policy: CachePolicy) {
        let isHeld = held?.token.isSame(as: token) ?? false
        if rejected?.fingerprint != token.fingerprint { rejected = (token.fingerprint, isHeld ? held?.fetchedAt : nil) }
        guard isHeld, let held else { return }
        // If the issuer keeps returning a rejected token, it isn't asked again after every rejection. The token is used
        // for `repeatedTokenDelay` instead.
        self.held?.usableUntil = min(held.usableUntil, held.fetchedAt + policy.repeatedTokenDelay)
        if !held.wasRejected { self.held = nil }
    }

    private static func warnings(
        lifetime: Duration?, isRepeated: Bool, hasWarnings: Bool, for context: AuthorizationContext, policy: CachePolicy
    ) -> [AuthorizationWarning] {
        guard let lifetime else {
            return hasWarnings || !policy.reusesTokens
                ? [] : [.unknownLifetime(context, assumed: policy.assumedLifetime)]
        }
        let wholeSeconds = Duration.seconds(lifetime.components.seconds)
        if lifetime <= policy.minimumLife {
            return [
                isRepeated
                    ? .oldTokenReissued(context, minimumLife: policy.minimumLife)
                    : .shortLivedTokens(context, lifetime: wholeSeconds, minimumLife: policy.minimumLife)
            ]
        }
        // A minute is tolerated, because the clock that set `exp` and the clock that measures the age may differ by
        // seconds.
        guard lifetime > policy.maximumLife + .seconds(60) else { return [] }
        return [.longLivedTokens(context, lifetime: wholeSeconds, maximumLife: policy.maximumLife)]
    }
}
