public import VehicleAuthorization

/// `VehicleAuthorization` seen as a provider in the Driver SDK's shape, for code that expects one.
public final class AgentTokenProvider: GMTDAuthorization, Sendable {
    private let authorization: any VehicleAuthorization

    /// A provider that answers with what `authorization` gives.
    public init(_ authorization: any VehicleAuthorization) { self.authorization = authorization }

    /// Calls `completion` once, later, with a token for the context's vehicle or an `AuthorizationError`.
    public func fetchToken(
        with authorizationContext: GMTDAuthorizationContext?,
        completion: @escaping GMTDAuthTokenFetchCompletionHandler
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

    /// A token for the context's vehicle.
    ///
    /// - Throws: an `AuthorizationError`; `.missingContext` when there is no context.
    public func fetchToken(with authorizationContext: GMTDAuthorizationContext?) async throws -> String {
        guard let authorizationContext else {
            throw AuthorizationError(.missingContext, "a token was asked for without a context")
        }
        return try await authorization.token(
            for: AuthorizationContext(vehicleID: authorizationContext.vehicleID, taskID: authorizationContext.taskID)
        ).value
    }
}
