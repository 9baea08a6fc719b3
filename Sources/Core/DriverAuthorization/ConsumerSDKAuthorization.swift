public import Foundation
public import VehicleAuthorization

/// A handler for the result of one fetch. Call it once, from any thread, with either the token or the error.
public typealias GMTCAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void

/// A provider of tokens for following a trip, with the interface that the Consumer SDK defines. Implement one of the
/// two forms of `fetchToken`.
public protocol GMTCAuthorization: NSObjectProtocol {
    /// Fetches a token for the context's trip and calls `completion` exactly once, from any thread.
    ///
    /// A class may declare the type of `completion` as `GMTCAuthTokenFetchCompletionHandler`.
    @preconcurrency
    func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void)

    /// Fetches and returns a token for the context's trip. The default implementation calls the completion form.
    func fetchToken(with authorizationContext: GMTCAuthorizationContext?) async throws -> String
}

extension GMTCAuthorization {
    /// Fails, because the provider implements only the `async` form. The agent calls that form instead.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        completion(nil, ProviderContractError.noCompletionForm)
    }

    /// Calls the completion form and returns its first answer. Cancelling the task ends the wait.
    public func fetchToken(with authorizationContext: GMTCAuthorizationContext?) async throws -> String {
        let answer = FirstAnswer()
        fetchToken(with: authorizationContext) { token, error in answer.accept(token: token, error: error) }
        return try await answer.value()
    }
}

/// The trip that a consumer's token is for. This is the counterpart of the Consumer SDK's class; the agent creates it.
public final class GMTCAuthorizationContext: NSObject, Sendable {
    /// The trip's id in Fleet Engine.
    public let tripID: String

    /// Creates a context, for tests of a provider.
    public init(tripID: String) { self.tripID = tripID }

    /// A description with the id, which isn't secret.
    public override var description: String { "GMTCAuthorizationContext(tripID: \(tripID))" }
}

/// An adapter that makes a provider for the Consumer SDK usable as `VehicleAuthorization`. Its tokens are for following
/// a trip.
///
/// Like `DriverSDKAuthorization`, it enforces the provider's contract and doesn't cache tokens.
public struct ConsumerSDKAuthorization: VehicleAuthorization {
    private let provider: SerializedProvider

    /// - Parameters:
    ///   - provider: the provider. Don't use it elsewhere afterwards, because it needn't be `Sendable`.
    ///   - timeLimit: the maximum time that the provider may take to answer.
    ///   - clock: the clock that measures the time limit.
    ///   - report: a function that receives each kind of contract violation once. If it is `nil`, violations are
    ///     written to standard error.
    public init(
        _ provider: sending any GMTCAuthorization, timeLimit: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(), report: (@Sendable (AuthorizationWarning) -> Void)? = nil
    ) {
        self.provider = SerializedProvider(
            ProviderVariants(
                completing: { provider.fetchToken(with: GMTCAuthorizationContext($0), completion: $1) },
                asynchronous: { try await provider.fetchToken(with: GMTCAuthorizationContext($0)) }),
            timeLimit: timeLimit, clock: clock, report: report)
    }

    /// Asks the provider for a trip's token and returns it. The token's lifetime is read from the token itself.
    public func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        guard context.tripID != nil else {
            throw AuthorizationError(.unsuitableContext(context))
        }
        return try await provider.token(for: context)
    }

    /// Ensures that later callers don't get the result of an earlier request.
    public func forgetTokens() async { await provider.forgetTokens() }
}

extension GMTCAuthorizationContext {
    fileprivate convenience init(_ context: AuthorizationContext) { self.init(tripID: context.tripID ?? "") }
}

/// An adapter that makes `VehicleAuthorization` usable in code that requires a provider for the Consumer SDK.
public final class AgentTripTokenProvider: NSObject, GMTCAuthorization, Sendable {
    private let authorization: any VehicleAuthorization

    /// Creates a provider that returns the tokens of `authorization`.
    public init(_ authorization: any VehicleAuthorization) { self.authorization = authorization }

    /// Calls `completion` once, asynchronously, with a token for the context's trip or an `AuthorizationError`.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        // This function can't wait for the token, because it isn't `async`.
        Task {
            do { completion(try await fetchToken(with: authorizationContext), nil) } catch {
                completion(nil, error)
            }
        }
    }

    /// Returns a token for the context's trip.
    ///
    /// - Throws: an `AuthorizationError`; `.missingContext` if there is no context.
    public func fetchToken(with authorizationContext: GMTCAuthorizationContext?) async throws -> String {
        guard let authorizationContext else {
            throw AuthorizationError(.unsuitableContext(nil))
        }
        return try await authorization.token(for: AuthorizationContext(tripID: authorizationContext.tripID)).value
    }
}
