public import Foundation

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
