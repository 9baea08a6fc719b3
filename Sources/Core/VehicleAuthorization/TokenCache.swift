/// The rules of reuse, without clock, task or issuer: what to do when somebody asks, and what a fetch changed.
///
/// Times are monotonic, as the time since any fixed moment.
package struct TokenCache: Sendable {
    /// What a fetch brought.
    package typealias Outcome = Result<AuthorizationToken, AuthorizationError>

    /// What to do for a caller.
    package enum Answer: Sendable, Hashable {
        /// Hand this token out.
        case use(AuthorizationToken)
        /// Hand this token out and fetch its successor meanwhile.
        case useAndRefresh(AuthorizationToken)
        /// Wait for the fetch that is under way.
        case wait
        /// Fetch, and wait for it.
        case fetch
        /// The issuer failed a moment ago: answer with its error.
        case refuse(AuthorizationError)
    }

    private let policy: CachePolicy
    private var slots: [AuthorizationContext: TokenSlot] = [:]
    /// Counts uses, to know which slot was left alone longest.
    private var uses: UInt64 = 0
    /// What was told, each without its figures.
    private var told: Set<AuthorizationWarning> = []

    package init(policy: CachePolicy = CachePolicy()) { self.policy = policy }

    /// How many contexts are kept.
    package var count: Int { slots.count }

    /// A caller asks. After `.fetch` and `.useAndRefresh` a fetch counts as under way until `fetched` is called.
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
            return (.success(token), warnings.filter { told.count < 1024 && told.insert($0.topic).inserted })
        } catch {
            slot.fail(error, now: now, policy: policy, jitter: jitter)
            return (.failure(error), [])
        }
    }

    /// A fetch was given up because nobody waits any more: neither success nor failure.
    package mutating func abandoned(_ context: AuthorizationContext) { slots[context]?.isFetching = false }

    /// Fleet Engine refused `token`: it goes, unless a newer one has taken its place.
    package mutating func discard(_ token: AuthorizationToken, for context: AuthorizationContext) {
        slots[context]?.discard(token, policy: policy)
    }

    /// The network is back: whoever failed may be asked at once.
    package mutating func forgetFailures() {
        for context in slots.keys { slots[context]?.failure = nil }
    }

    private mutating func makeRoom(for context: AuthorizationContext) {
        guard slots[context] == nil, slots.count >= policy.maximumContexts else { return }
        // A linear search: it runs only when a new context meets a full cache.
        let idle = slots.filter { !$0.value.isFetching }
        if let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) { slots[oldest.key] = nil }
    }
}
