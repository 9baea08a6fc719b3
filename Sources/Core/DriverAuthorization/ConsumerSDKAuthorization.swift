public import Foundation
public import VehicleAuthorization

/// Takes the token, or the error, of one fetch; exactly one of them is given, once, from any thread.
public typealias GMTCAuthTokenFetchCompletionHandler = (String?, (any Error)?) -> Void

/// A consumer's token provider in the Consumer SDK's shape: tokens for following one trip.
///
/// Implement one of the two forms.
public protocol GMTCAuthorization: NSObjectProtocol {
    /// Fetches a token for the context's trip and calls `completion` exactly once, from any thread.
    ///
    /// A class may take the handler as `GMTCAuthTokenFetchCompletionHandler` all the same.
    @preconcurrency
    func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void)

    /// Fetches a token for the context's trip. The default calls the completion form.
    func fetchToken(with authorizationContext: GMTCAuthorizationContext?) async throws -> String
}

extension GMTCAuthorization {
    /// Answers with an error: the provider has the `async` form, which the agent calls.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        completion(nil, ProviderContractError.noCompletionForm)
    }

    /// Calls the completion form; the first answer counts, and cancelling the task ends the wait.
    public func fetchToken(with authorizationContext: GMTCAuthorizationContext?) async throws -> String {
        let answer = FirstAnswer()
        fetchToken(with: authorizationContext) { token, error in answer.give(token, error) }
        return try await answer.value()
    }
}

/// What a consumer's token is asked for: the Consumer SDK's class, made by the agent.
public final class GMTCAuthorizationContext: NSObject, Sendable {
    /// The trip's id as Fleet Engine knows it.
    public let tripID: String

    /// A context, as tests of a provider need it.
    public init(tripID: String) { self.tripID = tripID }

    /// The id; there is no secret in it.
    public override var description: String { "GMTCAuthorizationContext(tripID: \(tripID))" }
}

/// A provider in the Consumer SDK's shape, seen as `VehicleAuthorization`: tokens for following a trip.
///
/// It holds the provider to the contract as `DriverSDKAuthorization` does, and keeps no tokens either.
public struct ConsumerSDKAuthorization: VehicleAuthorization {
    private let provider: SerializedProvider

    /// - Parameters:
    ///   - provider: handed over for good, since it need not be `Sendable`.
    ///   - timeLimit: how long its answer may take.
    ///   - clock: measures that.
    ///   - report: hears once of each rule that is broken; `nil` writes to standard error.
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

    /// Asks the provider for a trip's token. How long it lives is read from the token itself.
    public func token(for context: AuthorizationContext) async throws(AuthorizationError) -> AuthorizationToken {
        guard context.tripID != nil else {
            throw AuthorizationError(.unsuitableContext(context))
        }
        return try await provider.token(for: context)
    }

    /// Sees to it that nobody is given what the provider was asked for before.
    public func forgetTokens() async { await provider.forgetTokens() }
}

extension GMTCAuthorizationContext {
    fileprivate convenience init(_ context: AuthorizationContext) { self.init(tripID: context.tripID ?? "") }
}

/// `VehicleAuthorization` seen as a provider in the Consumer SDK's shape, for code that expects one.
public final class AgentTripTokenProvider: NSObject, GMTCAuthorization, Sendable {
    private let authorization: any VehicleAuthorization

    /// A provider that answers with what `authorization` gives.
    public init(_ authorization: any VehicleAuthorization) { self.authorization = authorization }

    /// Calls `completion` once, later, with a token for the context's trip or an `AuthorizationError`.
    @preconcurrency
    public func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        // The completion style has no task to wait in.
        Task {
            do { completion(try await fetchToken(with: authorizationContext), nil) } catch {
                completion(nil, error)
            }
        }
    }

    /// A token for the context's trip.
    ///
    /// - Throws: an `AuthorizationError`; `.missingContext` when there is no context.
    public func fetchToken(with authorizationContext: GMTCAuthorizationContext?) async throws -> String {
        guard let authorizationContext else {
            throw AuthorizationError(.unsuitableContext(nil))
        }
        return try await authorization.token(for: AuthorizationContext(tripID: authorizationContext.tripID)).value
    }
}
