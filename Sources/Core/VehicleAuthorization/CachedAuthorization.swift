/// Puts the rules of token reuse around any provider.
///
/// - A token is reused for its own vehicle only, and its successor fetched at half its life, so that no update waits
///   for it; should that fail or hang, the one in hand is used to its end.
/// - However many callers ask, one fetch per context is in progress; all of them get its outcome. Cancelling one caller
///   does not disturb the others; when the last one goes, the fetch is cancelled.
/// - After a failure the provider is not asked for a while, or as long as it demands.
/// - A token that names another vehicle, or that is not meant for Fleet Engine, is rejected.
/// - A token that Fleet Engine rejected is dropped, and asked for again once, however many requests it failed.
///
/// Life is measured on the clock given, which should be monotonic and count while the machine sleeps
/// (`ContinuousClock`). Tokens are kept in memory only. Safe to use from any task.
public actor CachedAuthorization: VehicleAuthorization {
    private typealias Outcome = TokenCache.Outcome
    private typealias Waiters = [Int: AsyncStream<Outcome>.Continuation]

    private struct Fetch {
        let task: Task<Void, Never>
        var waiters: Waiters = [:]
        /// Whether the last waiter went and the task was told to stop.
        var isAbandoned = false
        /// Whether it began before tokens were to be forgotten: its token is nobody's.
        var isOutdated = false
    }

    private let provider: any VehicleAuthorization
    private let claims: ClaimRules?
    private let elapsed: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async -> Void
    private let patience: Duration?
    private let jitter: @Sendable () -> Double
    private let report: @Sendable (TokenEvent) -> Void
    private var cache: TokenCache
    private var fetches: [AuthorizationContext: Fetch] = [:]
    private var nextWaiter = 0

    /// A cache around `provider`.
    ///
    /// - Parameters:
    ///   - provider: asked when no kept token will do.
    ///   - clock: measures the life of tokens and the waits after failures.
    ///   - policy: the numbers of the rules.
    ///   - claims: what a JSON Web Token must say; `nil` takes any.
    ///   - patience: how long a caller waits; a provider that hangs is asked again when its call has returned.
    ///   - jitter: draws from 0...1, so that a fleet does not ask in step.
    ///   - report: receives every event, from any task. It must return at once.
    public init(
        _ provider: any VehicleAuthorization, clock: any Clock<Duration>, policy: CachePolicy = CachePolicy(),
        claims: ClaimRules? = ClaimRules(), patience: Duration? = nil,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        report: @escaping @Sendable (TokenEvent) -> Void
    ) {
        self.provider = provider
        self.claims = claims
        self.patience = patience
        self.jitter = jitter
        self.report = report
        elapsed = Self.stopwatch(clock)
        sleep = { try? await clock.sleep(for: $0) }  // fails by cancellation alone
        cache = TokenCache(policy: policy)
    }

    /// Fetches in progress, with those that no caller waits for.
    package var fetchCount: Int { fetches.count }

    /// A token for the context's vehicle or trip: a kept one, or the outcome of a fetch, in progress or begun now.
    public func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        switch cache.request(context, now: elapsed()) {
        case .use(let token): return token
        case .useAndRefresh(let token):
            startFetch(for: context)
            return token
        case .refuse(let error): throw error
        case .fetch: startFetch(for: context)
        case .wait: break
        }
        return try await outcome(of: context).get()
    }

    /// Drops `token`, unless a newer one has taken its place, so that the next caller gets another.
    public func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        cache.discard(token, for: context)
        report(.renewal(cache.renewal(of: context, now: elapsed()), context))
        await provider.discard(token, for: context)
    }

    /// Ends the waits after failures, and informs the provider: the network has just returned.
    public func networkReturned() async {
        cache.forgetFailures()
        await provider.networkReturned()
    }

    /// Lets go of every token, as when a driver has signed out or in: only what the provider is asked for from now on
    /// is handed out.
    public func forgetTokens() async {
        cache.forgetTokens()
        for context in fetches.keys { fetches[context]?.isOutdated = true }
        await provider.forgetTokens()
    }

    /// Joins the fetch in progress, until this caller's task is cancelled or its patience ends.
    private func outcome(of context: AuthorizationContext) async -> Outcome {
        let id = nextWaiter
        nextWaiter += 1
        let (outcomes, waiter) = AsyncStream.makeStream(of: Outcome.self, bufferingPolicy: .bufferingNewest(1))
        fetches[context]?.waiters[id] = waiter
        let outcome = await withTaskGroup(of: Outcome?.self) { [sleep, patience] group in
            group.addTask {
                for await outcome in outcomes { return outcome }
                return nil
            }
            if let patience {
                group.addTask {
                    await sleep(patience)
                    return nil
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        if let outcome { return outcome }
        if var fetch = fetches[context], fetch.waiters.removeValue(forKey: id) != nil {
            if fetch.waiters.isEmpty, !fetch.isAbandoned {
                fetch.isAbandoned = true
                fetch.task.cancel()
            }
            fetches[context] = fetch
        }
        if let patience, !Task.isCancelled {
            return .failure(AuthorizationError(.providerFailed(.silent(patience))))
        }
        return .failure(AuthorizationError(.cancelled))
    }

    /// A task of its own, because the fetch outlives the caller who caused it as long as others wait.
    private func startFetch(for context: AuthorizationContext, waiters: Waiters = [:]) {
        let task = Task { [provider, claims, elapsed, report] in
            let begun = elapsed()
            let outcome: Outcome
            do throws(AuthorizationError) {
                report(.asked(context))
                defer { report(.answered(context)) }
                let token = try await provider.token(for: context)
                outcome = .success(try claims?.checked(token, for: context) ?? token)
            } catch {
                outcome = .failure(error)
            }
            finish(outcome, for: context, begun: begun)
        }
        fetches[context] = Fetch(task: task, waiters: waiters)
    }

    private func finish(_ outcome: Outcome, for context: AuthorizationContext, begun: Duration) {
        guard let fetch = fetches.removeValue(forKey: context) else { return }
        var isVoid = fetch.isOutdated
        if fetch.isAbandoned, case .failure = outcome { isVoid = true }
        if isVoid {
            cache.abandoned(context)
            restart(with: fetch.waiters, for: context)
            return
        }
        let now = elapsed()
        let (answer, warnings) = cache.fetched(
            outcome.mapError(\.whileWaitedFor), for: context, begun: begun, now: now, jitter: jitter())
        tell(fetch.waiters, answer)
        for warning in warnings { report(.warning(warning)) }
        report(.renewal(cache.renewal(of: context, now: now), context))
    }

    /// Callers who joined a fetch after it was abandoned, or whose fetch is outdated, get one of their own.
    private func restart(with waiters: Waiters, for context: AuthorizationContext) {
        guard !waiters.isEmpty else { return }
        switch cache.request(context, now: elapsed()) {
        case .use(let token): tell(waiters, .success(token))
        case .useAndRefresh(let token):
            startFetch(for: context)
            tell(waiters, .success(token))
        case .refuse(let error): tell(waiters, .failure(error))
        case .fetch, .wait: startFetch(for: context, waiters: waiters)
        }
    }

    private func tell(_ waiters: Waiters, _ outcome: Outcome) {
        for waiter in waiters.values {
            waiter.yield(outcome)
            waiter.finish()
        }
    }

    /// The time since now on `clock`, whatever its instants are.
    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension AuthorizationError {
    /// A provider that reports a cancellation while a caller waits has failed like any other.
    fileprivate var whileWaitedFor: Self {
        code == .cancelled ? Self(.providerFailed(.gaveUp), retryAfter: retryAfter) : self
    }
}
