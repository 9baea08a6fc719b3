public import VehicleAuthorization

/// `VehicleAuthorization` seen as a provider in the Consumer SDK's shape, for code that expects one.
public final class AgentTripTokenProvider: GMTCAuthorization, Sendable {
    private let authorization: any VehicleAuthorization

    /// A provider that answers with what `authorization` gives.
    public init(_ authorization: any VehicleAuthorization) { self.authorization = authorization }

    /// Calls `completion` once, later, with a token for the context's trip or an `AuthorizationError`.
    public func fetchToken(
        with authorizationContext: GMTCAuthorizationContext?,
        completion: @escaping GMTCAuthTokenFetchCompletionHandler
    ) {
        // The completion style has no task to wait in.
        Task {
            do {
                completion(try await fetchToken(with: authorizationContext), nil)
            } catch {
                completion(nil, error)
            }
        }
    }

    /// A token for the context's trip.
    ///
    /// - Throws: an `AuthorizationError`; `.missingContext` when there is no context.
    public func fetchToken(with authorizationContext: GMTCAuthorizationContext?) async throws -> String {
        guard let authorizationContext else {
            throw AuthorizationError(.missingContext, "a token was asked for without a context")
        }
        return try await authorization.token(for: AuthorizationContext(tripID: authorizationContext.tripID)).value
    }
}
