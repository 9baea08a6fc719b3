import Foundation
import VehicleAuthorization

/// An actor that calls a provider and enforces its contract. Only one call is made at a time, whatever its context. The
/// first answer is used if it arrives within the time limit; any other is ignored. A caller that is cancelled stops
/// waiting at once.
actor SerializedProvider {
    private typealias Outcome = Result<AuthorizationToken, AuthorizationError>

    private let provider: QueuedProvider
    private let breaches: ContractBreaches
    private let timeLimit: Duration
    private let clock: any Clock<Duration>
    /// The waiting callers of each call that is in progress or queued.
    private var waiters: [ObjectIdentifier: [AsyncStream<Outcome>.Continuation]] = [:]
    /// The call, in progress or queued, that the next caller for a context joins.
    private var current: [AuthorizationContext: ProviderCall] = [:]
    /// The latest call; `nil` before the first call. It completes when the provider has returned and answered, or when
    /// the call has timed out.
    private var last: Task<Void, Never>?
    /// The latest call that has timed out; `nil` if none has. The provider may still be executing this call, or an
    /// earlier one.
    private var stuck: ProviderCall?

    init(
        _ forms: sending ProviderVariants, timeLimit: Duration, clock: any Clock<Duration>,
        report: (@Sendable (AuthorizationWarning) -> Void)?
    ) {
        provider = QueuedProvider(forms)
        breaches = ContractBreaches(report: report)
        self.timeLimit = timeLimit
        self.clock = clock
    }

    func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        if let problem = context.problem { throw problem }
        let call: ProviderCall
        if let joined = current[context] { call = joined } else { call = try startCall(for: context) }
        let (outcomes, waiter) = AsyncStream.makeStream(of: Outcome.self, bufferingPolicy: .bufferingNewest(1))
        waiters[ObjectIdentifier(call), default: []].append(waiter)
        for await outcome in outcomes { return try outcome.get() }
        throw AuthorizationError(.cancelled)
    }

    /// Prevents later callers from joining calls that the provider has already received. A queued call may still be
    /// joined, because it asks the provider later.
    func forgetTokens() { current = current.filter { !$0.value.wasMade } }

    /// Starts a call to the provider and returns it. The call runs in unstructured tasks, so that a caller can stop
    /// waiting while the provider is still running.
    private func startCall(for context: AuthorizationContext) throws(AuthorizationError) -> ProviderCall {
        if stuck?.isPending == true { throw AuthorizationError(.providerFailed(.busy)) }
        let call = ProviderCall(breaches)
        let answering = Task { await call.answer() }
        let asking = Task { [provider, last] in
            await last?.value
            await provider.requestToken(for: context, call: call)
            _ = await answering.value
        }
        last = asking
        let isQueued = !waiters.isEmpty
        current[context] = call
        let waiting = Task { [clock, timeLimit] in
            try await clock.sleep(for: timeLimit)
            // Some of this time was spent in the queue, waiting for another call, so the call gets the whole limit
            // again.
            if isQueued, call.wasMade { try await clock.sleep(for: timeLimit) }
            expire(call)
        }
        Task {
            let answer = await answering.value
            asking.cancel()
            waiting.cancel()
            let outcome = Self.outcome(of: answer)
            if current[context] === call { current[context] = nil }
            for waiter in waiters.removeValue(forKey: ObjectIdentifier(call)) ?? [] {
                waiter.yield(outcome)
                waiter.finish()
            }
        }
        return call
    }

    private func expire(_ call: ProviderCall) {
        var fault = ProviderFault.notCalledBack(timeLimit)
        stuck = call
        if call.blocksThread {
            breaches.record(.neverReturned)
        } else if call.wasMade {
            breaches.record(.neverCalledBack)
        } else {
            fault = .blockedByEarlierCall(timeLimit)
        }
        call.abandon(with: AuthorizationError(.providerFailed(fault)))
    }

    private static func outcome(of answer: Result<String, any Error>) -> Outcome {
        do {
            let value = try answer.get()
            guard !value.isEmpty else { throw ProviderContractError.emptyAnswer }
            let life = TokenExpiry.lifetime(ofToken: value, localTime: Date().timeIntervalSince1970)
            return .success(AuthorizationToken(value: value, lifetime: life))
        } catch let error as AuthorizationError {
            return .failure(error)
        } catch let error as ProviderContractError {
            return .failure(
                AuthorizationError(.providerFailed(error == .emptyAnswer ? .emptyAnswer : .noCompletionForm)))
        } catch {
            return .failure(AuthorizationError(.providerFailed(.failed(ProviderErrorMessage(error).text))))
        }
    }
}

/// The two forms of a provider's `fetchToken`, from either SDK. This type isn't `Sendable`, because a provider need not
/// be `Sendable`.
struct ProviderVariants {
    typealias Completion = @Sendable (String?, (any Error)?) -> Void

    let completing: (AuthorizationContext, @escaping Completion) -> Void
    let asynchronous: (AuthorizationContext) async throws -> String
}

/// A provider that is called on a dedicated queue, one call after another, so it need not be thread-safe.
actor QueuedProvider {
    private let forms: ProviderVariants
    private let queue = ProviderQueue()

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe queue.asUnownedSerialExecutor() }

    init(_ forms: sending ProviderVariants) { self.forms = forms }

    /// Requests a token from the provider. Its answer is passed to `call`, even if it arrives late.
    func requestToken(for context: AuthorizationContext, call: ProviderCall) async {
        // The caller may have stopped waiting while an earlier call was blocking the queue.
        defer { call.recordEnd() }
        guard call.begin() else { return }
        forms.completing(context) { call.acceptAnswer(token: $0, error: $1) }
        guard !call.recordReturn() else { return }
        do { call.acceptAnswer(token: try await forms.asynchronous(context), error: nil) } catch {
            call.acceptAnswer(token: nil, error: error, isFinal: true)
        }
    }
}

/// An executor that runs an actor's jobs one after another, on a thread that a provider may block.
final class ProviderQueue: SerialExecutor {
    private let queue = OperationQueue()

    init() {
        queue.name = "waypost-provider"
        queue.maxConcurrentOperationCount = 1
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.addOperation { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
