/// A cache in front of any token provider. It decides when a token is reused.
///
/// - A token is reused only for the vehicle or trip that it was fetched for. The next token is fetched after half of
///   the current token's lifetime, so that no update has to wait. If the fetch fails or hangs, the current token is
///   used until it expires.
/// - At most one fetch per context is in progress, and all callers get its outcome. Cancelling one caller doesn't
///   affect the others. When the last caller is cancelled, so is the fetch.
/// - After a failure, the provider isn't asked again for a while, or for as long as its error demands.
/// - A token that names another vehicle, or that isn't meant for Fleet Engine, is rejected.
/// - A token that Fleet Engine has rejected is dropped. One fetch replaces it, however many requests have failed with
///   it.
/// Lifetimes are measured on the given clock, which should be monotonic and keep running while the machine is suspended
/// (`ContinuousClock`). Tokens are kept in memory only. The cache is safe to use from any task.
public actor CachedAuthorization: VehicleAuthorization {
    private typealias Outcome = TokenCache.Outcome
    private typealias Waiters = [Int: AsyncStream<Outcome>.Continuation]

    private struct Fetch {
        let task: Task<Void, Never>
        var waiters: Waiters = [:]
        /// Whether the last waiter has left and the task has been cancelled.
        var isAbandoned = false
        /// Whether the fetch began before a call of `forgetTokens`. If so, its token must not be used.
        var isOutdated = false
    }

    private let provider: any VehicleAuthorization
    private let claims: ClaimRules?
    private let elapsed: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async -> Void
    private let timeout: Duration?
    private let jitter: @Sendable () -> Double
    private let report: @Sendable (TokenEvent) -> Void
    private var cache: TokenCache
    private var fetches: [AuthorizationContext: Fetch] = [:]
    private var nextWaiter = 0

    /// Creates a cache around `provider`.
    ///
    /// - Parameters:
    ///   - provider: the provider to ask if no cached token is usable.
    ///   - clock: the clock that measures the lifetimes of tokens and the waits after failures.
    ///   - policy: the rules for how long tokens are reused, and how often a failing provider is asked.
    ///   - claims: the claims that a JSON Web Token must have; `nil` accepts any.
    ///   - timeout: the maximum time that a caller waits; `nil` for no limit. A provider that hangs isn't asked again
    ///     before its call has returned.
    ///   - jitter: a function that returns a random number from 0...1, so that the vehicles of a fleet don't ask at the
    ///     same time.
    ///   - report: a function that receives every event, from any task. It must return at once.
    public init(
        _ provider: any VehicleAuthorization, clock: any Clock<Duration>, policy: CachePolicy = CachePolicy(),
        claims: ClaimRules? = ClaimRules(), timeout: Duration? = nil,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        report: @escaping @Sendable (TokenEvent) -> Void
    ) {
        self.provider = provider
        self.claims = claims
        self.timeout = timeout
        self.jitter = jitter
        self.report = report
        elapsed = Self.stopwatch(on: clock)
        sleep = { try? await clock.sleep(for: $0) }  // fails only if cancelled
        cache = TokenCache(policy: policy)
    }

    /// The number of fetches in progress, including those that no caller waits for.
    package var fetchCount: Int { fetches.count }

    /// Returns a token for the context's vehicle or trip: a cached token, or the outcome of a fetch that is in progress
    /// or started by this call.
    public func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        switch cache.requestToken(for: context, now: elapsed()) {
        case .use(let token): return token
        case .useAndRefresh(let token):
            startFetch(for: context)
            return token
        case .fail(let error): throw error
        case .fetch: startFetch(for: context)
        case .wait: break
        }
        return try await fetchOutcome(for: context).get()
    }

    /// Drops `token`, unless a newer token has replaced it. The next caller gets a different token.
    public func discard(_ token: AuthorizationToken, for context: AuthorizationContext) async {
        cache.discard(token, for: context)
        report(.renewal(cache.renewal(of: context, now: elapsed()), context))
        await provider.discard(token, for: context)
    }

    /// Ends the waits after failures and notifies the provider, because the network has returned.
    public func networkReturned() async {
        cache.forgetFailures()
        await provider.networkReturned()
    }

    /// Drops all tokens, for example because a driver has signed out or in. Only tokens that are requested from now on
    /// are handed out.
    public func forgetTokens() async {
        cache.forgetTokens()
        for context in fetches.keys { fetches[context]?.isOutdated = true }
        await provider.forgetTokens()
    }

    /// Waits for the fetch in progress, until this caller's task is cancelled or the timeout is reached. Returns the
    /// outcome.
    private func fetchOutcome(for context: AuthorizationContext) async -> Outcome {
        let id = nextWaiter
        nextWaiter += 1
        let (outcomes, waiter) = AsyncStream.makeStream(of: Outcome.self, bufferingPolicy: .bufferingNewest(1))
        fetches[context]?.waiters[id] = waiter
        let outcome = await withTaskGroup(of: Outcome?.self) { [sleep, timeout] group in
            group.addTask {
                for await outcome in outcomes { return outcome }
                return nil
            }
            if let timeout {
                group.addTask {
                    await sleep(timeout)
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
        if let timeout, !Task.isCancelled {
            return .failure(AuthorizationError(.providerFailed(.silent(timeout))))
        }
        return .failure(AuthorizationError(.cancelled))
    }

    /// Starts a fetch. It runs in an unstructured task, because it must continue for other waiting callers if the first
    /// caller is cancelled.
    private func startFetch(for context: AuthorizationContext, waiters: Waiters = [:]) {
        let task = Task { [provider, claims, elapsed, report] in
            let begun = elapsed()
            let outcome: Outcome
            do throws(AuthorizationError) {
                report(.providerAsked(context))
                defer { report(.providerAnswered(context)) }
                let token = try await provider.token(for: context)
                outcome = .success(try claims?.checked(token, for: context) ?? token)
            } catch {
                outcome = .failure(error)
            }
            finishFetch(with: outcome, for: context, begun: begun)
        }
        fetches[context] = Fetch(task: task, waiters: waiters)
    }

    private func finishFetch(with outcome: Outcome, for context: AuthorizationContext, begun: Duration) {
        guard let fetch = fetches.removeValue(forKey: context) else { return }
        var isVoid = fetch.isOutdated
        if fetch.isAbandoned, case .failure = outcome { isVoid = true }
        if isVoid {
            cache.recordAbandonedFetch(for: context)
            restartFetch(with: fetch.waiters, for: context)
            return
        }
        let now = elapsed()
        let (answer, warnings) = cache.recordOutcome(
            outcome.mapError(\.forWaitingCaller), for: context, begun: begun, now: now, jitter: jitter())
        resume(fetch.waiters, with: answer)
        if let warnings { report(.warnings(warnings)) }
        report(.renewal(cache.renewal(of: context, now: now), context))
    }

    /// Starts a new fetch for callers that have joined an abandoned fetch, or whose fetch is outdated.
    private func restartFetch(with waiters: Waiters, for context: AuthorizationContext) {
        guard !waiters.isEmpty else { return }
        switch cache.requestToken(for: context, now: elapsed()) {
        case .use(let token): resume(waiters, with: .success(token))
        case .useAndRefresh(let token):
            startFetch(for: context)
            resume(waiters, with: .success(token))
        case .fail(let error): resume(waiters, with: .failure(error))
        case .fetch, .wait: startFetch(for: context, waiters: waiters)
        }
    }

    private func resume(_ waiters: Waiters, with outcome: Outcome) {
        for waiter in waiters.values {
            waiter.yield(outcome)
            waiter.finish()
        }
    }

    /// Returns a function that measures the time since this call on `clock`.
    private static func stopwatch<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}

extension AuthorizationError {
    /// The error for a waiting caller. A cancellation that the provider reports is a failure like any other, because
    /// the caller itself wasn't cancelled.
    fileprivate var forWaitingCaller: Self {
        code == .cancelled ? Self(.providerFailed(.cancellationReported), retryAfter: retryAfter) : self
    }
}
