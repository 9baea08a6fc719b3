/// The rules of reuse, without clock, task or issuer: what to do for a caller, and what a fetch changed.
///
/// Times are monotonic, as the time since any fixed moment.
package struct TokenCache: Sendable {
    /// What a fetch brought.
    package typealias Outcome = Result<AuthorizationToken, AuthorizationError>

    /// What to do for a caller.
    package enum Answer: Sendable, Hashable {
        case use(AuthorizationToken)
        /// Hand this token out and fetch its successor meanwhile.
        case useAndRefresh(AuthorizationToken)
        /// Wait for the fetch in progress.
        case wait
        /// Fetch, and wait for it.
        case fetch
        /// The issuer failed a moment ago: answer with its error.
        case refuse(AuthorizationError)
    }

    private let policy: CachePolicy
    private var slots: [AuthorizationContext: TokenSlot] = [:]
    /// Counts uses, to find the least recently used slot.
    private var uses: UInt64 = 0
    /// When each thing was reported, without its figures.
    private var told: [AuthorizationWarning: Duration] = [:]
    /// How soon the same is reported again.
    private static let reminderInterval = Duration.seconds(600)

    package init(policy: CachePolicy = CachePolicy()) { self.policy = policy }

    /// How many contexts are kept.
    package var count: Int { slots.count }

    /// A caller asks. After `.fetch` and `.useAndRefresh` a fetch counts as in progress until `fetched` is called.
    package mutating func request(_ context: AuthorizationContext, now: Duration) -> Answer {
        if let problem = context.problem { return .refuse(problem) }
        uses += 1
        makeRoom(for: context)
        return slots[context, default: TokenSlot()].request(now: now, use: uses)
    }

    /// A fetch that began at `begun` has ended; `jitter` is drawn from 0...1. Answers what those who wait for it get,
    /// and what the operator should hear.
    package mutating func fetched(
        _ result: Outcome, for context: AuthorizationContext, begun: Duration, now: Duration, jitter: Double
    ) -> (answer: Outcome, warnings: [AuthorizationWarning]) {
        var slot = slots[context] ?? TokenSlot()
        defer { slots[context] = slot }
        do throws(AuthorizationError) {
            let (token, warnings) = try slot.accept(
                try result.get(), for: context, begun: begun, now: now, policy: policy, jitter: jitter)
            return (.success(token), warnings.filter { isNew($0, now: now) })
        } catch {
            slot.fail(error, now: now, policy: policy, jitter: jitter)
            return (.failure(error), [])
        }
    }

    /// A fetch was abandoned because no caller waits any more: neither success nor failure.
    package mutating func abandoned(_ context: AuthorizationContext) { slots[context]?.isFetching = false }

    /// Fleet Engine rejected `token`: it goes, unless a newer one has taken its place.
    package mutating func discard(_ token: AuthorizationToken, for context: AuthorizationContext) {
        slots[context]?.discard(token, policy: policy)
    }

    /// Nothing that was fetched so far is handed out any more, and whoever failed may be asked at once.
    package mutating func forgetTokens() {
        for context in slots.keys { slots[context]?.forget() }
    }

    /// The network is back: whoever failed may be asked at once.
    package mutating func forgetFailures() {
        for context in slots.keys { slots[context]?.failure = nil }
    }

    /// How the renewal of the token in hand fares.
    package func renewal(of context: AuthorizationContext, now: Duration) -> TokenRenewal {
        slots[context]?.renewal(now: now) ?? .lapsed
    }

    private mutating func isNew(_ warning: AuthorizationWarning, now: Duration) -> Bool {
        let topic = warning.topic
        if told.count >= 1024 { told = told.filter { now - $0.value < Self.reminderInterval } }
        guard told.count < 1024, told[topic].map({ now - $0 >= Self.reminderInterval }) ?? true else { return false }
        told[topic] = now
        return true
    }

    private mutating func makeRoom(for context: AuthorizationContext) {
        guard slots[context] == nil, slots.count >= policy.maximumContexts else { return }
        // A linear search: it runs only when a new context meets a full cache.
        let idle = slots.filter { !$0.value.isFetching }
        if let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) { slots[oldest.key] = nil }
    }
}

/// How long tokens are reused, and how fast an issuer that failed is asked again.
public struct CachePolicy: Sendable, Hashable {
    /// Life that an issuer should give, and at which a token is renewed at the latest (the Driver SDK asks for five
    /// minutes). One that cannot be renewed is used to its end.
    public var minimumLife: Duration = .seconds(300)
    /// Whether a token is handed out more than once; without that the provider is asked at every update.
    public var reusesTokens = true
    /// After how long a token without a known expiry is renewed.
    public var assumedLifetime: Duration = .seconds(300)
    /// The longest life that Fleet Engine accepts; an issuer that gives more is reported. A token without a known
    /// expiry that cannot be renewed is used for so long, unless Fleet Engine rejects it.
    public var longestLife: Duration = .seconds(3600)
    /// Contexts whose tokens are kept; the least recently used one goes first.
    public var maximumContexts: Int = 4096
    /// The ceiling of the wait after the first failed fetch; it doubles with each further failure. The wait is drawn
    /// from the upper half, so that a fleet does not ask in step.
    public var initialFailureDelay: Duration = .seconds(2)
    /// The longest wait after a failure; and the shortest between two fetches of an issuer that gives a rejected token
    /// again.
    public var maximumFailureDelay: Duration = .seconds(60)
    /// How long a rejected token that the issuer gave again is kept, however often it is rejected; shorter than the
    /// pause between two probes of a delivery on hold, so that each begins with a new token where there is one.
    public var repeatedTokenDelay: Duration = .seconds(20)
    /// The longest wait that an issuer can ask for with `retryAfter`.
    public var maximumRetryAfter: Duration = .seconds(600)

    /// The documented rules.
    public init() {}

    /// For a provider that keeps its tokens itself and knows when one is good no more, as when a driver signs out: it
    /// is asked at every update. The other rules hold.
    public static var askingAtEveryUpdate: Self {
        var policy = Self()
        policy.reusesTokens = false
        return policy
    }

    /// How long a token with `left` to live is used before its successor is asked for: half of that, so that an issuer
    /// may fail for the other half and no update hears of it; less where five minutes would not be left then.
    func renewalAge(left: Duration) -> Duration {
        guard left > minimumLife else { return left / 2 }
        // A tenth: a life of just over five minutes must not cost a fetch at every update.
        return max(left / 10, min(left / 2, left - minimumLife))
    }

    /// How long before its end a token is used no more: clocks differ, and an upload takes its time.
    func margin(left: Duration) -> Duration { max(.seconds(1), min(left / 10, .seconds(10))) }
}

/// An event of a token cache.
public enum TokenEvent: Sendable, Hashable {
    /// The provider is asked for a token.
    case asked(AuthorizationContext)
    /// The provider has returned a token or an error.
    case answered(AuthorizationContext)
    /// The state of the renewal, after every fetch and when a token is dropped.
    case renewal(TokenRenewal, AuthorizationContext)
    /// A doubt about a token, reported once in ten minutes.
    case warning(AuthorizationWarning)
}

/// How the renewal of a token fares.
public enum TokenRenewal: Sendable, Hashable {
    /// The last fetch brought the token in hand, which serves for so long.
    case works(remaining: Duration)
    /// It fails, and the token in hand serves for so long still.
    case fails(AuthorizationError, remaining: Duration)
    /// There is no token in hand.
    case lapsed
}

/// What the cache knows about one context.
struct TokenSlot: Sendable {
    private struct Held: Sendable {
        let token: AuthorizationToken
        let fetchedAt: Duration
        var usableUntil: Duration
        let renewFrom: Duration
        /// When its life ends; `nil` when that is not known.
        let end: Duration?
        /// Whether Fleet Engine had rejected it when the issuer gave it again.
        let wasRefused: Bool

        /// The token with the life that is left now.
        func handedOut(at now: Duration) -> AuthorizationToken { token.with(lifetime: end.map { $0 - now }) }
    }

    struct Failure: Sendable {
        let error: AuthorizationError
        let count: Int
        let until: Duration
    }

    /// Tokens and answers state whole seconds: a life may end up to a second sooner than it seems to.
    private static let resolution = Duration.seconds(1)

    var isFetching = false
    var failure: Failure?
    private(set) var lastUse: UInt64 = 0
    private var held: Held?
    /// The fingerprint of the token that Fleet Engine rejected last, and when that was first fetched, if it is known.
    private var refused: (fingerprint: Int, fetchedAt: Duration?)?

    mutating func request(now: Duration, use: UInt64) -> TokenCache.Answer {
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
            return .refuse(AuthorizationError(failure.error.fault, retryAfter: failure.until - now))
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
            throw AuthorizationError(.expired(nil, .overWhenReceived(context)))
        }
        let wasRefused = token.fingerprint == refused?.fingerprint
        let usableUntil =
            policy.reusesTokens ? end.map { $0 - policy.margin(left: $0 - now) } ?? begun + policy.longestLife : now
        let reuse =
            [token.reuse, end.map { policy.renewalAge(left: $0 - now) } ?? policy.assumedLifetime]
            .compactMap { $0 }.min() ?? .zero
        held = Held(
            token: token.with(lifetime: token.lifetime), fetchedAt: now, usableUntil: usableUntil,
            // By chance, so that a fleet does not ask in step.
            renewFrom: now + reuse * (0.8 + 0.2 * jitter), end: end, wasRefused: wasRefused)
        isFetching = false
        failure = nil
        var warnings = token.doubts.map(AuthorizationWarning.doubtfulToken)
        warnings += Self.warnings(
            lifetime: end.map { $0 - begun }, isRepeated: isRepeated, isTold: !warnings.isEmpty, context, policy)
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
        // Once more at the end of the token in hand, before anything has to wait.
        let left = held.map { $0.usableUntil - now }.flatMap { $0 > .zero ? $0 : nil } ?? ceiling
        failure = Failure(
            error: error, count: count, until: now + max(min(ceiling * (0.5 + 0.5 * jitter), left), asked))
    }

    func renewal(now: Duration) -> TokenRenewal {
        guard let held, now < held.usableUntil else { return .lapsed }
        let remaining = held.usableUntil - now
        return failure.map { .fails($0.error, remaining: remaining) } ?? .works(remaining: remaining)
    }

    mutating func forget() {
        held = nil
        failure = nil
    }

    mutating func discard(_ token: AuthorizationToken, policy: CachePolicy) {
        let isHeld = held?.token.isSame(as: token) ?? false
        if refused?.fingerprint != token.fingerprint { refused = (token.fingerprint, isHeld ? held?.fetchedAt : nil) }
        guard isHeld, let held else { return }
        // An issuer that gives the rejected token again is not asked at each rejection.
        self.held?.usableUntil = min(held.usableUntil, held.fetchedAt + policy.repeatedTokenDelay)
        if !held.wasRefused { self.held = nil }
    }

    private static func warnings(
        lifetime: Duration?, isRepeated: Bool, isTold: Bool, _ context: AuthorizationContext, _ policy: CachePolicy
    ) -> [AuthorizationWarning] {
        guard let lifetime else {
            return isTold || !policy.reusesTokens ? [] : [.unknownLifetime(context, assumed: policy.assumedLifetime)]
        }
        let told = Duration.seconds(lifetime.components.seconds)
        if lifetime <= policy.minimumLife {
            return [
                isRepeated
                    ? .oldTokenAgain(context, minimumLife: policy.minimumLife)
                    : .shortLivedTokens(context, lifetime: told, minimumLife: policy.minimumLife)
            ]
        }
        // A minute is tolerated, as the clock that set exp and the one that measures the age may differ by seconds.
        guard lifetime > policy.longestLife + .seconds(60) else { return [] }
        return [.longLivedTokens(context, lifetime: told, longestLife: policy.longestLife)]
    }
}
